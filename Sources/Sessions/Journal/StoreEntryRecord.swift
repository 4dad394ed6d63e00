// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// A recorder that journals the events of one named store while its session has a handle.
final class StoreEntryRecord: StoreRecorder {
  /// The effect of an action on the view state.
  enum Shown {
    /// An update, which can be replayed to reconnecting clients.
    case frame([UInt8])
    /// A redaction.
    case redaction
  }

  private let session: SessionRecord
  private let store: String
  /// The effect of the action that is being folded.
  private var shown: Shown?
  /// Size of the patches since the last state, in bytes.
  private var patched = 0
  private var stateBytes = 0

  init(_ session: SessionRecord, store: String) {
    self.session = session
    self.store = store
  }

  func add(_ event: JournalEntry.StoreEvent) { session.add(.store(store, event)) }

  /// Keeps the published view state; `folded` follows if the store's actions are journaled.
  func published(_ shown: Shown) { self.shown = shown }

  func stateChanged(_ state: JSONEncodedState, revision: Revision) {
    // A small state is written here, so that its length is known.
    let stored: JournalState =
      state.expectedBytes > Self.smallBytes ? .encoded(state) : .text(state.wholeText)
    patched = 0
    stateBytes = stored.expectedBytes
    add(.state(stored, revision: revision))
  }

  func folded(_ patch: UnsafeRawBufferPointer, revision: Revision) -> Bool {
    var frame: [UInt8]?
    if case .frame(let bytes) = shown { frame = bytes }
    patched += patch.count
    let isStateDue = patched > max(Self.leastPatched, stateBytes)
    // The patch is not needed if the state follows; it can be as large as the state.
    add(.step(patch: isStateDue ? nil : Array(patch), revision: revision, frame: frame))
    if case .redaction = shown { add(.redacted(revision)) }
    shown = nil
    return isStateDue
  }

  func accepted(_ input: [UInt8], operation: UInt64, epoch: UInt64, at time: Duration) {
    add(.accepted(operation: operation, epoch: epoch, input: input, at: time))
  }

  func settled(operation: UInt64) { add(.settled(operation: operation)) }

  private static var smallBytes: Int { 64 << 10 }
  // Most states are small and would be journaled too often otherwise.
  private static var leastPatched: Int { 16 << 10 }
}
