// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON
internal import StatewireProtocol

/// Several updates of a store that are coalesced until the client reads.
///
/// The operations are kept one after the other while they have at most 4 KiB. Beyond that, or after
/// a redaction, the update contains the whole state at the time when the client reads. So a slow
/// consumer needs bounded memory.
struct CoalescedUpdate {
  /// The revision that the client has.
  let base: Revision
  /// The operations without the brackets of the array; nil if the update contains the whole state.
  private var operations: [UInt8]? = []

  // Above this size, the whole state is sent instead.
  private static let maximumBytes = 4 << 10

  init(base: Revision) { self.base = base }

  /// Creates an update that contains the whole state.
  init(wholeSince base: Revision) {
    self.base = base
    operations = nil
  }

  /// Coalesces the next update.
  mutating func add(_ update: borrowing Update) {
    guard var kept = operations, !update.isRedaction,
      kept.count + update.patch.count <= Self.maximumBytes
    else {
      operations = nil
      return
    }
    operations = nil
    if !kept.isEmpty { kept.append(UInt8(ascii: ",")) }
    // Without the brackets of the array.
    kept.append(contentsOf: update.patch.dropFirst().dropLast())
    operations = kept
  }

  /// Returns the update with its current content.
  func change(of storeEntry: StoreEntry, _ format: FrameFormat, applied: [UInt8])
    -> CoalescedContent
  {
    let content: CoalescedContent.Content
    switch (format, operations) {
    case (.state, _): content = .state(storeEntry.store.shown)
    case (.patch, let operations?): content = .operations(operations)
    case (.patch, nil): content = .replacement(storeEntry.store.shown)
    }
    return CoalescedContent(
      store: storeEntry.name, base: base, revision: storeEntry.store.revision, content: content,
      applied: applied)
  }
}

/// The content of a coalesced update.
public struct CoalescedContent: Sendable {
  /// The difference or the state.
  enum Content {
    /// Operations without the brackets of the array.
    case operations([UInt8])
    /// One operation that replaces the whole state.
    case replacement(JSONEncodedState)
    /// The whole state.
    case state(JSONEncodedState)
  }

  let store: String
  let base: Revision
  let revision: Revision
  let content: Content
  /// The id of the client's latest request that the update includes, as JSON text; empty if there
  /// is none.
  public let applied: [UInt8]

  /// The approximate length of the JSON text.
  ///
  /// - Units: bytes.
  public var expectedBytes: Int {
    switch content {
    case .operations(let operations): operations.count
    case .replacement(let state), .state(let state): state.expectedBytes
    }
  }

  /// Writes the members of the notification's parameters except `applied`; it can be called on any
  /// thread.
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
