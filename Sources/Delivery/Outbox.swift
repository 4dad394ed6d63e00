// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Sessions
internal import StatewireJSON

/// The messages that wait until the client reads, or until a frame is written on another thread, in
/// the order in which they are sent.
///
/// Updates are not stored as bytes. Each store has one place, and all its changes until the client
/// reads are sent there as one coalesced update.
struct Outbox {
  /// An element of the outbox.
  enum Part {
    /// Whole frames, or the start of a frame.
    case bytes([UInt8])
    /// More bytes of the frame that starts in an earlier part.
    case rest([UInt8])
    /// The coalesced update of a subscription, which is written when it is sent.
    case change(Subscription)
    /// A large frame, which is written on another thread when all parts before it have been sent.
    case unwritten(UnwrittenFrame)
    /// A frame that another thread is writing; later parts wait for it.
    case awaited(UnwrittenFrame)

    var byteCount: Int {
      switch self {
      case .bytes(let bytes), .rest(let bytes): bytes.count
      case .change: 0
      case .unwritten(let frame), .awaited(let frame): frame.expectedBytes
      }
    }

    var isRest: Bool { if case .rest = self { true } else { false } }

    fileprivate var isLarge: Bool {
      switch self {
      case .bytes, .rest, .change: false
      case .unwritten, .awaited: true
      }
    }
  }

  private var parts: Deque<Part> = []
  /// Number of bytes that have been taken from the first part.
  private var taken = 0
  /// Number of queued bytes; frames that are not written count with their expected size, updates
  /// with 0.
  private(set) var byteCount = 0
  /// Number of frames that are written on another thread.
  private var largeFrames = 0

  var isEmpty: Bool { parts.isEmpty }
  /// True if it contains a frame that another thread is writing or will write.
  var hasLargeFrame: Bool { largeFrames > 0 }
  /// True if the first part can be sent now.
  var isReady: Bool {
    switch first {
    case .awaited, nil: false
    case .bytes, .rest, .change, .unwritten: true
    }
  }
  /// The part that is sent next; nil if the outbox is empty.
  var first: Part? { parts.first }
  /// Number of queued bytes after the frame that is being sent.
  var byteCountAfterFirst: Int {
    var count = byteCount - (first?.byteCount ?? 0) + taken
    for case .rest(let bytes) in parts.dropFirst().prefix(while: \.isRest) {
      count -= bytes.count
    }
    return count
  }

  /// The bytes that wait, in order, without frames that are not written.
  var bytes: [UInt8] {
    let bytes = parts.flatMap { (part) -> [UInt8] in
      switch part {
      case .bytes(let bytes), .rest(let bytes): bytes
      case .change, .unwritten, .awaited: []
      }
    }
    return Array(bytes.dropFirst(taken))
  }

  /// The ids of the requests whose responses are not written, as JSON text.
  var unwrittenIDs: [[UInt8]] {
    parts.compactMap { part in
      switch part {
      case .unwritten(let frame), .awaited(let frame): frame.id
      case .bytes, .rest, .change: nil
      }
    }
  }

  /// Appends a part.
  mutating func add(_ part: Part) {
    if case .bytes(let bytes) = part, bytes.isEmpty { return }
    count(part, 1)
    parts.append(part)
  }

  /// Replaces the place of a store's update with a part. Later changes are not coalesced with it.
  ///
  /// - Returns: False if the update had no place.
  /// - Complexity: O(n) in the number of parts.
  mutating func replace(_ subscription: Subscription, with part: Part) -> Bool {
    for index in parts.indices {
      guard case .change(subscription) = parts[index] else { continue }
      parts[index] = part
      count(part, 1)
      return true
    }
    return false
  }

  /// Replaces the first part, from which no bytes have been taken; nil removes it.
  mutating func replaceFirst(with part: Part?) {
    count(parts[0], -1)
    guard let part else { return removeFirst() }
    count(part, 1)
    parts[0] = part
  }

  /// Removes and returns bytes of the first part.
  ///
  /// - Parameter room: The maximum number of bytes.
  /// - Returns: An empty slice if the first part has no bytes.
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
    // Releases the memory of the queue, so that an idle client needs none.
    if isEmpty { parts = [] }
  }
}

/// A frame that has not been written.
struct UnwrittenFrame {
  /// The id of the request whose response it is, as JSON text; nil for a notification.
  var id: [UInt8]?
  /// The approximate size of the frame, in bytes.
  let expectedBytes: Int
  /// Writes the frame, on any thread.
  let write: @Sendable (inout JSONWriter) -> Void
}

extension Subscription {
  fileprivate static func ~= (one: Subscription, other: Subscription) -> Bool { one === other }
}
