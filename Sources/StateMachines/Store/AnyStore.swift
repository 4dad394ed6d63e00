// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A store of some machine, as whoever serves it over a wire sees it.
public protocol AnyStore: AnyObject {
  /// How many states have been published since revision 0.
  var revision: Revision { get }

  /// Reads an input and takes it; see `Store.send`.
  ///
  /// An input that is not all of a text that should be one value is undecodable.
  /// - Throws: `InputError`; nothing has changed then.
  func send(reading reader: inout JSONReader) throws(InputError) -> SendResult?

  /// Tells who serves the store the current value now, every later one, and every event, each before
  /// other listeners.
  ///
  /// - Parameter server: Not kept alive; it must be there until the store is closed.
  /// - Precondition: nobody else serves the store.
  func serve(_ server: any StoreServer)

  /// Tells `trace` all that is observed from now on; nil ends it.
  func trace(_ trace: ((TraceRecord) -> Void)?)

  /// Takes the input that the machine wants when frontends come or go, if it wants any.
  func take(_ phase: LifecyclePhase)

  /// Gives back the memory that is kept for the next input; that one takes a little longer.
  func dropBuffers()

  /// The current view state, which may be written on any thread.
  var shown: JSONEncodedState { get }

  /// How long the text of the view state is, lists aside.
  /// - Units: bytes.
  var shownBytes: Int { get }

  /// Takes what running work of this store has to say.
  func receive(_ message: EffectMessage)

  /// Cancels the effects of an input, feeds excepted.
  func cancel(_ inputID: InputID)

  /// Calls `body` once all effects of an input have ended, at once if they have.
  func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void)

  /// A request gets its response when all effects of an input have ended, and is told there if one of them refuses the
  /// input.
  func answersEnd(of inputID: InputID)

  /// Whether the view state differs from an earlier one.
  ///
  /// States are compared as for a publication: they differ if the patch between them is not empty. A
  /// list that was changed and changed back counts as different.
  func hasChanged(since mark: StateMark) -> Bool

  /// The last input that was given a number; see `Store.init`.
  var lastOperation: UInt64 { get }

  /// Gets ready to be written down, if its machine is a `DurableMachine`.
  ///
  /// From now on inputs are kept until their effects have ended, and those learn the id of their
  /// operation.
  ///
  /// - Parameters:
  ///   - scope: What tells this store's operations from all others.
  ///   - epoch: What tells this process's operations from all others.
  /// - Returns: Whether it can be written down.
  func prepareRecord(scope: String, epoch: UInt64) -> Bool

  /// Lets work begin when it may, from now on.
  ///
  /// Work that is cancelled before it may begin never begins. What has begun with the store itself
  /// (`StateMachine.initialEffect`) is not held.
  ///
  /// - Parameter hold: Is given this store's work for each piece that comes to wait, and lets the next
  ///   one begin for each. So it knows the order in which the pieces of several stores came.
  func holdWork(by hold: @escaping (any HeldWork) -> Void)

  /// Tells a recorder the state and the inputs whose effects have not ended, and from now on what
  /// happens to them.
  func record(by recorder: any StoreRecorder)

  /// Begins again what the machine says goes on beside its inputs, when the process has ended in which
  /// the store was before.
  ///
  /// - Parameter areSomeLost: Whether there may have been inputs whose effects had not ended, beside those that
  ///   are restarted then.
  func resume(areSomeLost: Bool)

  /// Begins again an input whose effects had not ended then; all of a session's in the order in which they came.
  ///
  /// - Throws: Why it cannot be read; it counts as settled.
  func restart(_ accepted: AcceptedInput) throws(JSONError)

  /// True if something would begin in the store after a restart although no frontend comes and no input is unfinished: what
  /// `resume` begins, or what begins with a new store if its state is never journaled.
  var continuesAlone: Bool { get }

  /// A Boolean value that indicates whether effects of inputs up to one with this number run, feeds excepted.
  func hasWork(through operation: UInt64) -> Bool

  /// Ends the store.
  /// - Returns: The tasks that are still on their way out.
  @discardableResult
  func close() -> [Task<Void, Never>]

  /// Whether the store has been closed.
  var isClosed: Bool { get }

  /// The tasks of all work that has not ended, cancelled or not.
  var unfinished: [Task<Void, Never>] { get }
}

/// Who serves a store over a wire, and is told of all that goes out.
///
/// An object and no closures, as other listeners have: there is one for each of thousands of stores, and
/// it is told of every change.
public protocol StoreServer: AnyObject {
  /// Whether it needs to know how values differ, and not only that they do.
  var needsPatches: Bool { get }

  /// The store has published a value.
  func published(_ publication: borrowing Publication)

  /// An event has happened.
  /// - Parameter event: As JSON text, valid during the call.
  func happened(_ event: UnsafeRawBufferPointer)

  /// A new state cannot be encoded; the store continues from the state before.
  /// - Parameter error: Its path leads into the state.
  func failed(_ error: JSONError)
}

/// Why an input that came as text was refused.
public enum InputError: Error {
  /// It is no input of this store.
  case undecodable(JSONError)
  /// A state that it led to cannot be encoded; see `StoreError`.
  case unencodable(JSONError)
  /// The store has been closed.
  case closed
}

extension AnyStore {
  /// Writes the current view state as JSON text.
  public func writeState(to writer: inout JSONWriter) { shown.write(to: &writer) }
}

extension Store: AnyStore {
  public var shown: JSONEncodedState { published }

  public var shownBytes: Int { published.textBytes }

  public func hasWork(through operation: UInt64) -> Bool {
    runner.hasWork(through: InputID(rawValue: operation))
  }

  public func send(reading reader: inout JSONReader) throws(InputError) -> SendResult? {
    let input: Machine.Input
    let start = reader.nextValueOffset()
    do throws(JSONError) {
      input = try inputDecoding.read(&reader)
      try reader.finishIfOneValue()
    } catch {
      throw .undecodable(error)
    }
    if let refusal = running.refusal(of: input) {
      var error = reader.error(refusal.code, refusal.message, at: start)
      if let member = refusal.member { error.path.append(.key(member)) }
      throw .undecodable(error)
    }
    do throws(StoreError) {
      return try send(input)
    } catch {
      switch error {
      case .closed: throw .closed
      case .unencodable(let error): throw .unencodable(error)
      }
    }
  }
}
