// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A running state machine: performs its effects, folds its actions and publishes the changes.
///
/// A store is a synchronous class that is owned by the actor that hosts it. It guarantees:
/// - Inputs and actions are folded one at a time, in arrival order. An input that is sent inside a
///   publication is queued and folded directly after it.
/// - One action gives at most one publication, after the state was changed. It gives none if the
///   view state has not changed, that is, if the patch is empty.
/// - Listeners receive the current value immediately and then each later one, in the order in which
///   the listeners were added. The server of the store (`AnyStore.serve`) is called before them.
/// - The stream of values never fails. Closing cancels running work and drops queued steps; later
///   inputs are refused. A store closes when it is released.
public final class Store<Machine: StateMachine> {
  /// The machine that runs here.
  public var machine: Machine { running.machine }
  /// The number of states that have been published after the first one, which is revision 0.
  public internal(set) var revision: Revision
  /// The folded state.
  public var state: Machine.State { running.state }

  var running: Running<Machine>
  /// The children that are present; nil if none can be absent.
  let presence: ChildPresence<Machine>?
  /// The audiences; nil if all viewers see the same view.
  let audiences = Audiences<Machine>.ofMachine()
  /// The encoded view state, as listeners hold it. Each change of the view state updates it. It
  /// holds no reference that prevents a list in the state from being changed in place.
  var published: JSONEncodedState
  /// True if there may be view states that cannot be encoded.
  let keepsLastState = JSONEncoding<Machine.ViewState>().canFail
  var phase = Phase.idle
  /// True while effects are performed that actions of work have caused.
  package internal(set) var isPerformingFollowUps = false
  /// Buffers that are reused for the changes of a turn.
  var buffers: StoreBuffers?
  let viewEncoding: JSONEncoding<Machine.ViewState>
  let inputDecoding = JSONDecoding<Machine.Input>()

  var waiting: [Step] = []
  /// The input whose effects are being started; it cannot settle before all of them have been
  /// started.
  var performing: InputID?
  var listeners = Listeners()

  let runner: EffectRunner<Machine.Action>
  var inputIDs: InputIDs
  /// The observers; nil if there are none.
  var observers: Observers<Machine>?
  /// The record of inputs and state for a recorder; nil if the store is never recorded.
  var record: StoreRecord<Machine>?
  /// The unsettled ids of effects that belong to no input: of the initial effect, and of effects
  /// after actions of feeds.
  var effectsWithoutInput: Set<InputID> = []
  /// The effects that folded actions have caused and that have not been performed, in order.
  var followUps: [FollowUp] = []
  /// The state before the input or the reply whose result is compared with it.
  var base = Base.unneeded
  /// The reason why an immediate action of the last input was taken back; nil if none was. After a
  /// failure no further effect of the input is performed.
  var failure: Failure?

  /// A failure of the initial effect, which began before the store had a server; nil if there is
  /// none.
  var unreported: Failure?

  enum Phase { case idle, folding, closed }

  enum Base {
    /// Nothing is performed whose result is compared.
    case unneeded
    /// At most one publication is expected, so the revision shows a change.
    case revision
    case state(JSONEncodedState.Mark)
  }

  /// An object, because each step of each effect only checks whether the property is nil.
  final class Failure {
    let error: JSONError
    init(_ error: JSONError) { self.error = error }
  }

  /// One queued step.
  enum Step {
    case input(Machine.Input, InputID, Viewer)
    /// An input that was accepted in an earlier process, with the time since then.
    case restart(Machine.Input, InputID, after: Duration)
    /// An action of running work, with the input of the work; nil for an action of a feed.
    case action(Machine.Action, InputID?)
    /// Work gave an action and continues as a feed.
    case becameFeed(Machine.Action, RunNumber)
    /// A wait is over; it counts for its input until the next effect has begun.
    case next(EffectRunner<Machine.Action>.Next)
    case cancel(InputID)
    /// The reply to an exchange.
    case replied(RunNumber, Machine.Action?, InputRefusal?)
  }

  /// Creates a store in the machine's initial state and performs the initial effect.
  ///
  /// - Parameters:
  ///   - machine: The machine to run.
  ///   - number: The number by which `host` finds this store for a message.
  ///   - host: The actor that owns the store.
  ///   - environment: The clock, executor and faults of effects.
  ///   - hooks: Observers of inputs and operations; they cannot change the stream of actions.
  ///   - revision: The last revision of an earlier store with the same name.
  ///   - lastOperation: The last input number of an earlier store with the same name.
  /// - Throws: `JSONError` if the initial view state cannot be encoded.
  public convenience init(
    _ machine: Machine,
    number: StoreNumber,
    host: any StoreHost,
    environment: StoreEnvironment = StoreEnvironment(),
    hooks: [Hook<Machine>] = [],
    revision: Revision = 0,
    lastOperation: UInt64 = 0
  ) throws(JSONError) {
    try self.init(
      machine, number: number, host: host, environment, hooks: hooks, revision: revision,
      lastOperation: lastOperation, state: machine.initialState)
    begin(running.composed.initialEffect(in: state))
  }

  /// Creates a store in a persisted state of an earlier process. No effect begins before `resume`.
  ///
  /// - Parameters:
  ///   - machine: The machine to run; a `DurableMachine`.
  ///   - number: The number by which `host` finds this store for a message.
  ///   - host: The actor that owns the store.
  ///   - environment: The clock, executor and faults of effects.
  ///   - hooks: Observers of inputs and operations; they cannot change the stream of actions.
  ///   - revision: The revision of the state. The store has the next one if its state is not the
  ///     same, because it was migrated, members were filled in, or it is encoded in another form.
  ///   - lastOperation: The number of the last input.
  ///   - state: The folded state, as `StoreRecorder` received it.
  ///   - version: The version of the machine that has recorded the state; nil for the version of
  ///     `machine`.
  /// - Throws: `JSONError` if the value is not a state of the machine, or the machine is not
  ///   durable.
  public convenience init(
    restoring machine: Machine,
    number: StoreNumber,
    host: any StoreHost,
    environment: StoreEnvironment = StoreEnvironment(),
    hooks: [Hook<Machine>] = [],
    revision: Revision,
    lastOperation: UInt64,
    state: JSONValue,
    version: Int? = nil
  ) throws(JSONError) {
    let restored = try Durability<Machine>.required().restoreState(machine, state, version)
    try self.init(
      machine, number: number, host: host, environment, hooks: hooks,
      revision: restored.isUnchanged ? revision : revision + 1, lastOperation: lastOperation,
      state: restored.state)
  }

  init(
    _ machine: Machine, number: StoreNumber, host: any StoreHost,
    _ environment: StoreEnvironment, hooks: [Hook<Machine>], revision: Revision,
    lastOperation: UInt64, state: Machine.State
  ) throws(JSONError) {
    let composed = Composed(machine)
    if let fault = composed.fault { throw JSONError(.value, fault) }
    running = Running(composed: composed, state: state)
    // Most actions change few members.
    viewEncoding = JSONEncoding(keepsMembers: true)
    presence = composed.canVanish ? ChildPresence(composed.children, in: state) : nil
    self.revision = revision
    published = try JSONEncodedState(machine.view(of: state))
    inputIDs = InputIDs(after: lastOperation)
    runner = EffectRunner(host: host, store: number, environment: environment)
    if !hooks.isEmpty {
      observers = Observers(hooks)
      runner.reportParts()
      observers?.opened(revision)
    }
  }

  deinit { close() }
}
