// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A store of any machine, for code that serves stores over a wire.
public protocol AnyStore: AnyObject {
  /// The number of states that have been published after the first one, which is revision 0.
  var revision: Revision { get }

  /// Decodes an input and takes it; see `Store.send`.
  ///
  /// If the reader's text should be one value and more follows the input, the input is undecodable.
  ///
  /// - Parameters:
  ///   - reader: A reader at the start of the input.
  ///   - viewer: The participant that sends the input.
  /// - Throws: `InputError`; nothing has changed, unless the input had other immediate actions.
  func send(
    reading reader: inout JSONReader, from viewer: Viewer
  ) throws(InputError) -> SendResult?

  /// Passes the current value to a server immediately, and later each new value and each event,
  /// before other listeners receive them.
  ///
  /// - Parameter server: The server. It is not retained and must exist until the store is closed.
  /// - Precondition: the store has no other server.
  func serve(_ server: any StoreServer)

  /// Sends all later trace records to `trace`; nil ends the trace.
  func trace(_ trace: ((TraceRecord) -> Void)?)

  /// Sets the span of the inputs that are sent from now on; nil if they are not traced.
  func trace(in span: (any TraceSpan)?)

  /// Takes the input that the machine returns for a phase, if any.
  func take(_ phase: LifecyclePhase)

  /// True if the machine gets an input when the viewers change.
  var isPresenceAware: Bool { get }

  /// Takes the input that the machine returns for the viewers that have subscribed, if any.
  func take(_ viewers: [Viewer])

  /// Returns the audience of a viewer; nil if all viewers see the same view.
  func audience(of viewer: Viewer) -> AnyHashable?

  /// Returns the store as an audience sees it.
  ///
  /// - Throws: `JSONError` if its view cannot be encoded.
  func store(for audience: AnyHashable) throws(JSONError) -> any AnyStore

  /// Releases the view of an audience without viewers.
  func removeAudience(_ audience: AnyHashable)

  /// Releases the memory that is kept for the next input; that input takes a little longer.
  func dropBuffers()

  /// The current view state. It may be written on any thread.
  var shown: JSONEncodedState { get }

  /// The length of the text of the view state without its lists, in bytes.
  var shownBytes: Int { get }

  /// The bytes of the state that are not in the view state.
  var hiddenBytes: Int { get }

  /// Handles a message from running work of this store.
  func receive(_ message: EffectMessage)

  /// Cancels the effects of an input, except feeds.
  func cancel(_ inputID: InputID)

  /// Calls `body` once when all effects of an input have ended, immediately if they have ended
  /// already.
  func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void)

  /// True if no exchange delays the response to an input.
  func isReplied(_ inputID: InputID) -> Bool

  /// True while another party works at an input, also at an action of its effects.
  func hasExchange(_ inputID: InputID) -> Bool

  /// Calls `body` once when the exchanges of an input have ended.
  ///
  /// - Precondition: they have not ended: `isReplied` is false, and `body` is added in the same turn.
  func whenReplied(_ inputID: InputID, _ body: @escaping (Completion) -> Void)

  /// Records that a request gets its response when all effects of an input have ended. If an effect
  /// refuses the input, the response is the refusal.
  func respondsAtEnd(of inputID: InputID)

  /// Returns true if the view state differs from an earlier one.
  ///
  /// As for a publication, two states differ if the patch between them is not empty. A part
  /// that is compared by its version, as a `KeyedList` is, counts as different if it was changed and
  /// changed back.
  func hasChanged(since mark: StateMark) -> Bool

  /// The number of the last input; see `Store.init`.
  var lastOperation: UInt64 { get }

  /// Prepares the store to be recorded, if its machine is a `DurableMachine`.
  ///
  /// From then on inputs are kept until their effects have ended, and effects receive the id of
  /// their operation.
  ///
  /// - Parameters:
  ///   - scope: A text that identifies this store among all stores.
  ///   - epoch: A number that identifies this process among all processes.
  /// - Returns: True if the store can be recorded.
  func prepareRecord(scope: String, epoch: UInt64) -> Bool

  /// The version of the recorded states, `DurableMachine.version`; 1 if the store is not recorded.
  var version: Int { get }

  /// Makes work wait from now on.
  ///
  /// Work that is cancelled while it waits never begins. Work of `StateMachine.initialEffect` that
  /// has begun already is not affected.
  ///
  /// - Parameter hold: Called for each piece that waits, in order, with the closure that begins it. The closure is
  ///   called at most once, on the actor of the host. It does nothing after the work was cancelled, and retains the
  ///   work and what that refers to.
  func delayWork(by hold: @escaping (@escaping () -> Void) -> Void)

  /// Passes the state and the unsettled inputs to a recorder, and from then on each change.
  func record(by recorder: any StoreRecorder)

  /// Performs `DurableMachine.resumption` in a store that was restored.
  ///
  /// - Parameter areSomeLost: True if unsettled inputs may have been lost, beside those that are
  ///   restarted. The store then first folds the action of `DurableMachine.interruption`.
  func resume(areSomeLost: Bool)

  /// Returns true if `restart` can decode an input, given as JSON text.
  func canRestart(_ input: [UInt8]) -> Bool

  /// Restarts an input whose effects had not ended in the earlier process. The inputs of a session
  /// are restarted in the order in which they came.
  ///
  /// - Throws: `JSONError` if the input cannot be decoded; it then counts as settled.
  func restart(_ accepted: AcceptedInput) throws(JSONError)

  /// The state from which a copy of the store can begin.
  var copyable: CopyableState { get }

  /// True if an effect would begin in the store after a restart although no frontend attaches and
  /// no input is unsettled: the effect of `resume`, or the initial effect if the state is never
  /// journaled.
  var continuesAlone: Bool { get }

  /// A Boolean value that indicates whether effects of inputs up to this number run. Feeds do not
  /// count.
  func hasWork(through operation: UInt64) -> Bool

  /// True if the store would be the same after it was restored from its journal: no effect runs,
  /// except feeds that are only for frontends.
  var isFullyRecorded: Bool { get }

  /// Closes the store.
  ///
  /// - Returns: The tasks that were cancelled and have not ended yet.
  @discardableResult
  func close() -> [Task<Void, Never>]

  /// True after the store was closed.
  var isClosed: Bool { get }

  /// The tasks of all work that has not ended, including cancelled work.
  var unfinished: [Task<Void, Never>] { get }

  /// True if `unfinished` is not empty.
  var hasUnfinished: Bool { get }
}

/// The server of a store over a wire: it receives all publications and events.
///
/// A class instead of closures, unlike other listeners: there are thousands of stores, and each
/// change calls the server of its store.
public protocol StoreServer: AnyObject {
  /// True if the server needs the patch of each publication, false if it needs only the fact of a
  /// change.
  var needsPatches: Bool { get }

  /// Called before the reply to an exchange of an input is folded; `didReply` follows.
  func willReply()

  /// Called after the reply to an exchange of an input was folded.
  ///
  /// - Parameters:
  ///   - inputID: The input.
  ///   - isLast: True if it was the last reply before the response to the input.
  ///   - isRefused: True if it has refused the input.
  func didReply(to inputID: InputID, isLast: Bool, isRefused: Bool)

  /// Handles a published value.
  func published(_ publication: borrowing Publication)

  /// Handles an event.
  ///
  /// - Parameters:
  ///   - event: The event as JSON text; it is valid during the call.
  ///   - recipients: The viewers that receive it.
  func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients)

  /// Handles an error of the machine: a new state that cannot be encoded, so that the store continues
  /// from the previous one; a chain of actions without end; or a feed whose id another one has.
  ///
  /// - Parameter error: The error; its path leads into the state.
  func failed(_ error: JSONError)
}

extension StoreServer {
  /// Does nothing: the server does not report to which input an update belongs.
  public func willReply() {}
  /// Does nothing: the server does not report to which input an update belongs.
  public func didReply(to inputID: InputID, isLast: Bool, isRefused: Bool) {}
}

/// The reason why an input that came as JSON text was refused.
public enum InputError: Error {
  /// The text is not an input of this store, or the machine refuses it.
  case undecodable(JSONError)
  /// A state after one of its actions cannot be encoded; see `StoreError`.
  case unencodable(JSONError)
  /// The store has been closed.
  case closed
}

extension AnyStore {
  /// Nil: all viewers see the same view.
  public func audience(of viewer: Viewer) -> AnyHashable? { nil }
  /// Returns the store itself.
  public func store(for audience: AnyHashable) throws(JSONError) -> any AnyStore { self }
  /// Does nothing: there are no effects.
  public func trace(in span: (any TraceSpan)?) {}
  /// A state that cannot be copied.
  public var copyable: CopyableState { .none }
  /// Does nothing: there are no audiences.
  public func removeAudience(_ audience: AnyHashable) {}

  /// Writes the current view state as JSON text.
  public func writeState(to writer: inout JSONWriter) { shown.write(to: &writer) }
}

extension Store: AnyStore {
  /// The current view state. It may be written on any thread.
  public var shown: JSONEncodedState { published }

  /// The length of the text of the view state without its lists, in bytes.
  public var shownBytes: Int { published.textBytes }

  /// The bytes of the state that are not in the view state.
  public var hiddenBytes: Int { running.hiddenBytes }

  /// Returns the audience of a viewer; nil if all viewers see the same view.
  public func audience(of viewer: Viewer) -> AnyHashable? {
    audiences?.audience(of: viewer, machine)
  }

  /// Returns the store as an audience sees it.
  ///
  /// - Throws: `JSONError` if its view cannot be encoded.
  public func store(for audience: AnyHashable) throws(JSONError) -> any AnyStore {
    guard let audiences else { return self }
    return try audiences.store(audience, of: self)
  }

  /// Releases the view of an audience without viewers.
  public func removeAudience(_ audience: AnyHashable) { audiences?.remove(audience) }

  /// True if the machine is called when the viewers change.
  public var isPresenceAware: Bool { running.composed.isPresenceAware }

  /// True if there are inputs that only the server sends, when the viewers change.
  public var reservesInputs: Bool { running.composed.reservesInputs }

  /// Decodes an input of a client and takes it; see `AnyStore.send(reading:from:)`. Refuses an input
  /// that only the server sends.
  ///
  /// A server uses it for stores with such inputs alone, so that the inputs of others pay nothing.
  public func sendUnlessReserved(
    reading reader: inout JSONReader, from viewer: Viewer
  ) throws(InputError) -> SendResult? {
    let (input, start) = try decode(&reader)
    if let refusal = reservation(of: input) {
      throw .undecodable(reader.error(.init(refusal.code), refusal.message, at: start))
    }
    return try take(input, at: start, in: reader, from: viewer)
  }

  /// Returns the reason to refuse an input of a client that only the server sends; nil if clients
  /// may send it.
  package func reservation(of input: Machine.Input) -> InputRefusal? {
    guard reservesInputs, running.composed.isPresenceInput(input) else { return nil }
    return InputRefusal(
      .value,
      "only the server sends the input \(caseName(of: input).quoted()), when the viewers change")
  }

  /// Takes the input that the machine returns for the viewers that have subscribed, if any.
  public func take(_ viewers: [Viewer]) {
    // A closed store ignores its viewers.
    for input in running.composed.inputs(for: viewers, in: running.state) { _ = try? send(input) }
  }

  /// Returns true if effects of inputs up to this number run. Feeds do not count.
  public func hasWork(through operation: UInt64) -> Bool {
    runner.hasWork(through: InputID(rawValue: operation))
  }

  /// Decodes an input and takes it; see `AnyStore.send(reading:from:)`.
  public func send(
    reading reader: inout JSONReader, from viewer: Viewer
  ) throws(InputError) -> SendResult? {
    let (input, start) = try decode(&reader)
    return try take(input, at: start, in: reader, from: viewer)
  }

  /// Returns the next input, and its offset.
  @inline(__always)
  private func decode(
    _ reader: inout JSONReader
  ) throws(InputError) -> (input: Machine.Input, start: Int) {
    let start = reader.nextValueOffset()
    do throws(JSONError) {
      let input = try inputDecoding.read(&reader)
      try reader.finishIfOneValue()
      return (input, start)
    } catch {
      throw .undecodable(error)
    }
  }

  /// Takes an input that has been decoded, unless the machine refuses it.
  @inline(__always)
  private func take(
    _ input: Machine.Input, at start: Int, in reader: JSONReader, from viewer: Viewer
  ) throws(InputError) -> SendResult? {
    if let refusal = running.refusal(of: input, from: viewer) {
      var error = reader.error(.init(refusal.code), refusal.message, at: start)
      error.path += refusal.path.map { .key($0) }
      throw .undecodable(error)
    }
    do throws(StoreError) {
      return try send(input, from: viewer)
    } catch {
      switch error {
      case .closed: throw .closed
      case .unencodable(let error): throw .unencodable(error)
      }
    }
  }
}
