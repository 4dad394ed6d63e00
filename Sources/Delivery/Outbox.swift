// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Sessions
internal import StatewireJSON

/// What waits for a peer that does not read, or for a frame that is being written elsewhere, in the order in which
/// it will be sent.
///
/// Changes of stores are not among the bytes: each store has one place here, at which everything
/// that it has changed until the peer reads is sent as one frame.
struct Outbox {
  enum Part {
    case bytes([UInt8])
    /// More bytes of the frame that the part before it begins.
    case rest([UInt8])
    /// A store's change, as it is when it is sent.
    case change(Subscription)
    /// A frame so large that it is written elsewhere, once all before it has been sent.
    case unwritten(UnwrittenFrame)
    /// A frame of about so many bytes that is being written elsewhere; nothing behind it is sent before it.
    case awaited(expectedBytes: Int)

    var byteCount: Int {
      switch self {
      case .bytes(let bytes), .rest(let bytes): bytes.count
      case .change: 0
      case .unwritten(let frame): frame.expectedBytes
      case .awaited(let expectedBytes): expectedBytes
      }
    }

    fileprivate var isRest: Bool { if case .rest = self { true } else { false } }

    fileprivate var isLarge: Bool {
      switch self {
      case .bytes, .rest, .change: false
      case .unwritten, .awaited: true
      }
    }
  }

  private var parts: Deque<Part> = []
  /// Number of bytes of the first part that have been taken.
  private var taken = 0
  /// How many bytes wait, as far as it is known.
  private(set) var byteCount = 0
  private var largeFrames = 0

  var isEmpty: Bool { parts.isEmpty }
  /// Whether a frame is in it that is written elsewhere.
  var hasLargeFrame: Bool { largeFrames > 0 }
  /// True if what is sent next can be sent now.
  var isReady: Bool {
    switch first {
    case .awaited, nil: false
    case .bytes, .rest, .change, .unwritten: true
    }
  }
  /// What is sent next; nil if there is nothing.
  var first: Part? { parts.first }
  /// How many bytes wait behind the frame that is being sent.
  var byteCountBehindFirst: Int {
    var count = byteCount - (first?.byteCount ?? 0) + taken
    for case .rest(let bytes) in parts.dropFirst().prefix(while: \.isRest) {
      count -= bytes.count
    }
    return count
  }

  /// Adds a part behind all others.
  mutating func add(_ part: Part) {
    if case .bytes(let bytes) = part, bytes.isEmpty { return }
    count(part, 1)
    parts.append(part)
  }

  /// Puts a part, which nothing will be merged into any more, in the place of a store's change.
  ///
  /// - Returns: Whether the change had a place.
  mutating func settle(_ subscription: Subscription, as part: Part) -> Bool {
    for index in parts.indices {
      guard case .change(subscription) = parts[index] else { continue }
      parts[index] = part
      count(part, 1)
      return true
    }
    return false
  }

  /// Puts a part in the place of the first one, of which nothing has been taken; nil: nothing.
  mutating func replaceFirst(with part: Part?) {
    count(parts[0], -1)
    guard let part else { return removeFirst() }
    count(part, 1)
    parts[0] = part
  }

  /// Takes some of the bytes that come first out.
  ///
  /// - Parameter room: How many there are taken at most.
  mutating func takeBytes(_ room: Int) -> ArraySlice<UInt8> {
    let bytes: [UInt8]
    switch first {
    case .bytes(let part), .rest(let part): bytes = part
    case .change, .unwritten, .awaited, nil: return []
    }
    let end = taken + min(bytes.count - taken, room)
    let some = bytes[taken..<end]
    byteCount -= some.count
    taken = end
    if end == bytes.count { removeFirst() }
    return some
  }

  private mutating func count(_ part: Part, _ sign: Int) {
    byteCount += sign * part.byteCount
    if part.isLarge { largeFrames += sign }
  }

  private mutating func removeFirst() {
    taken = 0
    parts.removeFirst()
    // An idle client keeps no memory here.
    if isEmpty { parts = [] }
  }
}

/// A frame that has not been written.
struct UnwrittenFrame {
  let expectedBytes: Int
  /// Writes it, on any thread.
  let write: @Sendable (inout JSONWriter) -> Void
}

extension Subscription {
  fileprivate static func ~= (one: Subscription, other: Subscription) -> Bool { one === other }
}
