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
  }

  private var parts: [Part] = []
  private var next = 0
  /// How many bytes wait.
  private(set) var byteCount = 0

  var isEmpty: Bool { next == parts.count }

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

  /// Takes the first part out; nil if there is none.
  mutating func takeFirst() -> Part? {
    guard !isEmpty else { return nil }
    let part = parts[next]
    if case .bytes(let bytes) = part { byteCount -= bytes.count }
    next += 1
    if isEmpty {
      parts.removeAll()
      next = 0
    }
    return part
  }
}

extension Attachment {
  fileprivate static func ~= (one: Attachment, other: Attachment) -> Bool { one === other }
}
