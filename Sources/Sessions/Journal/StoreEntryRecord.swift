// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// Writes down what happens to the store of one name, while its session has a handle.
final class StoreEntryRecord: StoreRecorder {
  /// What happened to one revision beside the folding.
  enum Shown {
    /// A frame leads to it that frontends may be given again.
    case frame([UInt8])
    /// What was shown before it is hidden.
    case redaction
  }

  private let session: SessionRecord
  private let store: String
  /// What the action that is being folded has published.
  private var shown: Shown?
  /// - Units: bytes, of the patches since the last state.
  private var patched = 0
  private var stateBytes = 0

  init(_ session: SessionRecord, store: String) {
    self.session = session
    self.store = store
  }

  func add(_ event: JournalEntry.StoreEvent) { session.add(.store(store, event)) }

  /// The store has published; what was folded is told next, if it ever is.
  func published(_ shown: Shown) { self.shown = shown }

  func stateIs(_ state: JSONEncodedState, revision: Revision) {
    // A small one is written here, which tells how long it is.
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
    // The state comes next, which makes the patch needless: it may be as large.
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
  // States are small, mostly, and would else be written all the time.
  private static var leastPatched: Int { 16 << 10 }
}
