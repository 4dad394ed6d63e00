// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// What waits for a peer that does not read, in the order in which it will be sent.
///
/// Changes of stores are not among the bytes: each store has one place here, at which everything
/// that it has changed until the peer reads is sent as one frame.
struct Outbox {
  enum Part {
    case bytes([UInt8])
    /// A store's change, as it is when it is sent.
    case change(Attachment)
    /// An answer that is being written elsewhere; nothing behind it is sent before it.
    case awaited
  }

  private var parts: [Part] = []
  private var next = 0
  /// How many bytes of that part have been taken.
  private var taken = 0
  /// How many bytes wait.
  private(set) var byteCount = 0

  var isEmpty: Bool { next == parts.count }

  // So many empty places are left in front before the others are moved there.
  private static var keptParts: Int { 32 }

  /// Adds bytes that are sent as they are.
  mutating func add(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    parts.append(.bytes(bytes))
    byteCount += bytes.count
  }

  /// Adds the place of a store's change.
  mutating func add(_ attachment: Attachment) { parts.append(.change(attachment)) }

  /// Puts bytes in the place of a store's change, which nothing will be merged into any more.
  mutating func settle(_ attachment: Attachment, as bytes: [UInt8]) {
    for index in parts.indices.dropFirst(next) {
      if case .change(attachment) = parts[index] {
        parts[index] = .bytes(bytes)
        byteCount += bytes.count
      }
    }
  }

  /// Adds the place of an answer that is being written.
  mutating func addAwaited() { parts.append(.awaited) }

  /// Puts the answer that was being written in its place.
  mutating func settleAwaited(as bytes: [UInt8]) {
    for index in parts.indices.dropFirst(next) {
      if case .awaited = parts[index] {
        parts[index] = .bytes(bytes)
        byteCount += bytes.count
      }
    }
  }

  /// What is sent next: a store's change, or bytes that have waited.
  enum Sent {
    case bytes(ArraySlice<UInt8>)
    case change(Attachment)
  }

  /// Takes what comes first out; nil if there is nothing, or an answer that is being written.
  ///
  /// - Parameter room: How many bytes there are taken at most.
  mutating func takeFirst(_ room: Int) -> Sent? {
    guard !isEmpty else { return nil }
    let first: Sent
    switch parts[next] {
    case .awaited: return nil
    case .change(let attachment): first = .change(attachment)
    case .bytes(let bytes):
      let end = taken + min(bytes.count - taken, room)
      first = .bytes(bytes[taken..<end])
      byteCount -= end - taken
      taken = end
      if end < bytes.count { return first }
      taken = 0
    }
    // Let go of at once: a peer may stay behind for ever.
    parts[next] = .bytes([])
    next += 1
    if isEmpty {
      parts = []
      next = 0
    } else if next >= Self.keptParts, next > parts.count / 2 {
      parts.removeFirst(next)
      next = 0
    }
    return first
  }
}

extension Attachment {
  fileprivate static func ~= (one: Attachment, other: Attachment) -> Bool { one === other }
}
