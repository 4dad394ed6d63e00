// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON
internal import StatewireProtocol

/// The frames of a store that wait until a frontend reads, merged into one.
///
/// As long as their operations are few they are kept, one after the other. Beyond that the frame
/// becomes the whole state, as it is when the frontend reads, so a slow one costs bounded memory.
struct CoalescedUpdate {
  /// The revision that the frontend holds.
  let base: Revision
  /// The operations without the array's brackets; nil if the frame has become the whole state.
  private var operations: [UInt8]? = []

  // More than this is not worth keeping.
  private static let maximumBytes = 4 << 10

  init(base: Revision) { self.base = base }

  /// A frame that is the whole state.
  init(wholeSince base: Revision) {
    self.base = base
    operations = nil
  }

  /// Adds what leads on from here.
  mutating func add(_ frame: borrowing Update) {
    guard var kept = operations, !frame.isRedaction,
      kept.count + frame.patch.count <= Self.maximumBytes
    else {
      operations = nil
      return
    }
    operations = nil
    if !kept.isEmpty { kept.append(UInt8(ascii: ",")) }
    // Without its brackets.
    kept.append(contentsOf: frame.patch.dropFirst().dropLast())
    operations = kept
  }

  /// What has become of it until now.
  func change(of storeEntry: StoreEntry, _ format: FrameFormat, applied: [UInt8])
    -> CoalescedChange
  {
    let content: CoalescedChange.Content
    switch (format, operations) {
    case (.state, _): content = .state(storeEntry.store.shown)
    case (.patch, let operations?): content = .operations(operations)
    case (.patch, nil): content = .replacement(storeEntry.store.shown)
    }
    return CoalescedChange(
      store: storeEntry.name, base: base, revision: storeEntry.store.revision, content: content,
      applied: applied)
  }
}

/// What a store has changed while a frontend did not read.
public struct CoalescedChange: Sendable {
  enum Content {
    /// Operations without the array's brackets.
    case operations([UInt8])
    /// The operation that replaces everything.
    case replacement(JSONEncodedState)
    case state(JSONEncodedState)
  }

  let store: String
  let base: Revision
  let revision: Revision
  let content: Content
  /// The id, as JSON text, of the latest of the frontend's requests that is in it; empty if there was none.
  public let applied: [UInt8]

  /// About how long its text is.
  /// - Units: bytes.
  public var expectedBytes: Int {
    switch content {
    case .operations(let operations): operations.count
    case .replacement(let state), .state(let state): state.expectedBytes
    }
  }

  /// Writes the members of the notification's parameters but for `applied`, on any thread.
  public func write(to writer: inout JSONWriter) {
    StoreEntry.writeHead(store, base, revision, to: &writer)
    switch content {
    case .state(let state):
      writer.raw(",\"state\":")
      state.write(to: &writer)
    case .operations(let operations):
      writer.raw(",\"patch\":[")
      writer.raw(operations)
      writer.raw("]")
    case .replacement(let state):
      writer.raw(",\"patch\":[{\"op\":\"replace\",\"path\":\"\",\"value\":")
      state.write(to: &writer)
      writer.raw("}]")
    }
  }
}
