// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A store as one audience sees it: its own view and revision, and the inputs and effects of the
/// store.
final class AudienceStore<Machine: StateMachine>: AnyStore, SenderView {
  // The store has this object too; the cycle ends when the store is closed.
  private let store: Store<Machine>
  private(set) var revision: Revision
  private(set) var shown: JSONEncodedState
  private unowned var server: (any StoreServer)?

  init(_ store: Store<Machine>, _ shown: JSONEncodedState, revision: Revision) {
    self.store = store
    self.shown = shown
    self.revision = revision
  }

  var shownBytes: Int { shown.textBytes }

  /// The store itself counts them.
  var hiddenBytes: Int { 0 }

  func serve(_ server: any StoreServer) {
    self.server = server
    publish(base: nil, revision: revision, patch: nil, isRedaction: false)
  }

  /// Replaces the view that the audience sees.
  ///
  /// - Returns: The patch that leads to it; nil if the audience sees no change.
  func advance(to new: JSONEncodedState) -> [UInt8]? {
    var patch = JSONPatchWriter()
    shown.advance(to: new, writing: &patch)
    return patch.isEmpty ? nil : patch.withBytes { Array($0) }
  }

  /// Publishes a new view.
  func publish(_ patch: [UInt8], revision: Revision, isRedaction: Bool) {
    let base = self.revision
    self.revision = revision
    patch.withUnsafeBytes {
      publish(base: base, revision: revision, patch: $0, isRedaction: isRedaction)
    }
  }

  private func publish(
    base: Revision?, revision: Revision, patch: UnsafeRawBufferPointer?, isRedaction: Bool
  ) {
    server?.published(
      Publication(
        base: base, revision: revision, patch: patch, isRedaction: isRedaction, store: self))
  }

  func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients) {
    server?.happened(event, for: recipients)
  }

  func send(
    reading reader: inout JSONReader, from viewer: Viewer
  ) throws(InputError) -> SendResult? {
    let base = mark(beside: store.keptStates)
    let sent =
      store.reservesInputs
      ? try store.sendUnlessReserved(reading: &reader, from: viewer)
      : try store.send(reading: &reader, from: viewer)
    guard let result = sent else { return nil }
    if !result.isReplied { store.inputIDs.setView(self, of: result.inputID) }
    return SendResult(
      inputID: result.inputID, base: base, revision: revision, changed: hasChanged(since: base),
      isSettled: result.isSettled, isReplied: result.isReplied)
  }

  func mark(beside keptStates: Int) -> StateMark {
    let keepsValues = KeptStates.permit(keptStates, of: shown)
    return StateMark(revision: revision, state: shown.mark(keepingValues: keepsValues))
  }

  func hasChanged(since mark: StateMark) -> Bool {
    guard revision != mark.revision else { return false }
    return mark.state.map { !shown.isSame(as: $0) } ?? true
  }

  func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    store.whenSettled(inputID) { [self] in body($0.at(revision)) }
  }

  func isReplied(_ inputID: InputID) -> Bool { store.isReplied(inputID) }
  func hasExchange(_ inputID: InputID) -> Bool { store.hasExchange(inputID) }

  func whenReplied(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    store.whenReplied(inputID) { [self] in body($0.at(revision)) }
  }

  // MARK: The same for all audiences

  func respondsAtEnd(of inputID: InputID) { store.respondsAtEnd(of: inputID) }
  func cancel(_ inputID: InputID) { store.cancel(inputID) }
  func hasWork(through operation: UInt64) -> Bool { store.hasWork(through: operation) }
  var isFullyRecorded: Bool { store.isFullyRecorded }
  var lastOperation: UInt64 { store.lastOperation }
  var isClosed: Bool { store.isClosed }

  // MARK: Done by the store itself

  let isPresenceAware = false
  func take(_ viewers: [Viewer]) {}
  func take(_ phase: LifecyclePhase) {}
  func trace(_ trace: ((TraceRecord) -> Void)?) {}
  func dropBuffers() {}
  func receive(_ message: EffectMessage) {}
  func prepareRecord(scope: String, epoch: UInt64) -> Bool { false }
  func delayWork(by hold: @escaping (@escaping () -> Void) -> Void) {}
  func record(by recorder: any StoreRecorder) {}
  func resume(areSomeLost: Bool) {}
  let version = 1
  func canRestart(_ input: [UInt8]) -> Bool { false }
  func restart(_ accepted: AcceptedInput) throws(JSONError) {}
  let continuesAlone = false
  @discardableResult
  func close() -> [Task<Void, Never>] { [] }
  let unfinished: [Task<Void, Never>] = []
  let hasUnfinished = false
}
