// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Runs one state machine: performs its effects, folds its actions, publishes what changed.
///
/// A store is a plain synchronous object on the actor that hosts it. Its promises:
/// - Inputs and actions are folded one at a time, in arrival order. What is sent from inside a
///   publication is queued and folded right after.
/// - One action gives at most one publication, after the state is written; none if nothing that
///   frontends see has changed, that is, if the patch is empty.
/// - Listeners get the current value at once, then every later one, in the order they came; who serves the
///   store (`AnyStore.serve`) before all others.
/// - The stream never fails. Closing cancels what runs and drops what is queued; later inputs are
///   refused. A store that is let go of closes.
public final class Store<Machine: StateMachine> {
  /// The machine that runs here.
  public var machine: Machine { running.machine }
  /// How many states have been published since the first one, which is revision 0.
  public internal(set) var revision: Revision
  /// The folded state.
  public var state: Machine.State { running.state }

  var running: Running<Machine>
  /// What listeners hold. It is brought forward by each change of the view state, and holds nothing
  /// that keeps a list in the state from being changed in place.
  var published: JSONEncodedState
  /// What is kept from one change to the next of a turn.
  private var buffers: StoreBuffers?
  private let viewEncoding = JSONEncoding<Machine.ViewState>()
  /// True if there may be view states that cannot be encoded.
  private let keepsLastState = JSONEncoding<Machine.ViewState>().canFail
  let inputDecoding = JSONDecoding<Machine.Input>()

  var phase = Phase.idle
  var waiting: [Step] = []
  /// The input whose effects are being begun; it is not settled before all of them have been.
  var performing: InputID?
  var listeners = Listeners()

  let runner: EffectRunner<Machine.Action>
  var inputIDs: InputIDs
  var observers: Observers<Machine>
  /// What is kept for whoever writes down what happens here; nil if nobody ever will.
  var record: StoreRecord<Machine>?
  /// The input id of what began with the store, which is no input.
  private(set) var beginning: InputID?
  /// Actions of running work that wait until a test wants them; nil where they are folded as they
  /// come.
  package internal(set) var held: [Machine.Action]?
  /// Why an immediate action of the last input was taken back, after which nothing more of it is performed; nil if none was.
  private(set) var failure: Failure?
  /// Events that a test has yet to see; nil where there is no test.
  package var heldEvents: [Machine.Event]?

  enum Phase { case idle, folding, closed }

  /// An object, because the one field of it that is looked at in each step of each effect is whether it is there.
  final class Failure {
    let error: JSONError
    init(_ error: JSONError) { self.error = error }
  }

  /// One thing to do, in its turn.
  enum Step {
    case input(Machine.Input, InputID)
    /// An input that was accepted before the process began, so long ago.
    case restart(Machine.Input, InputID, after: Duration)
    case action(Machine.Action)
    /// Work gave an action and goes on as a feed.
    case becameFeed(Machine.Action, RunNumber)
    /// A wait is over; the run counts until what comes next has begun.
    case next(EffectRunner<Machine.Action>.Next)
    case cancel(InputID)
  }

  /// Makes a store in the machine's initial state.
  ///
  /// - Parameters:
  ///   - machine: What to run.
  ///   - number: The name under which `host` hands messages back to this store.
  ///   - host: The actor that owns the store.
  ///   - environment: The time that effects wait on, and where they run.
  ///   - hooks: Observers of inputs and operations; they never alter the stream.
  ///   - revision: Where counting goes on when a store of the same name was here before.
  ///   - lastOperation: Where numbering inputs goes on then.
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
      lastOperation: lastOperation, state: machine.initialState, holdsActions: false)
    begin(machine.initialEffect)
  }

  /// Makes a store in the state that one was in when its process ended; nothing begins in it before
  /// `resume`.
  ///
  /// - Parameters:
  ///   - machine: What to run; a `DurableMachine`.
  ///   - number: The name under which `host` hands messages back to this store.
  ///   - host: The actor that owns the store.
  ///   - environment: The time that effects wait on, and where they run.
  ///   - hooks: Observers of inputs and operations; they never alter the stream.
  ///   - revision: The revision of the state.
  ///   - lastOperation: The last input that was given a number.
  ///   - state: The folded state, as `StoreRecorder` was given it.
  /// - Throws: `JSONError` if this is no state of the machine.
  public convenience init(
    restoring machine: Machine,
    number: StoreNumber,
    host: any StoreHost,
    environment: StoreEnvironment = StoreEnvironment(),
    hooks: [Hook<Machine>] = [],
    revision: Revision,
    lastOperation: UInt64,
    state: JSONValue
  ) throws(JSONError) {
    guard let durability = Durability<Machine>.ofMachine else {
      throw JSONError(.type, "states of this kind are not written down")
    }
    try self.init(
      machine, number: number, host: host, environment, hooks: hooks, revision: revision,
      lastOperation: lastOperation, state: try durability.decodeState(state), holdsActions: false)
  }

  /// Makes a store that folds the actions of running work only when it is told to.
  package convenience init(
    scripted machine: Machine, host: any StoreHost, environment: StoreEnvironment
  ) throws(JSONError) {
    try self.init(
      machine, number: StoreNumber(0), host: host, environment, hooks: [], revision: 0,
      lastOperation: 0, state: machine.initialState, holdsActions: true)
    begin(machine.initialEffect)
  }

  private init(
    _ machine: Machine, number: StoreNumber, host: any StoreHost,
    _ environment: StoreEnvironment, hooks: [Hook<Machine>], revision: Revision,
    lastOperation: UInt64, state: Machine.State, holdsActions: Bool
  ) throws(JSONError) {
    running = Running(machine: machine, state: state)
    self.revision = revision
    published = try JSONEncodedState(machine.view(of: state))
    inputIDs = InputIDs(after: lastOperation)
    runner = EffectRunner(host: host, store: number, environment: environment)
    observers = Observers(hooks)
    held = holdsActions ? [] : nil
    heldEvents = holdsActions ? [] : nil
    if !observers.isEmpty { runner.tellParts() }
    observers.opened(revision)
  }

  deinit { close() }
}

// MARK: - Inputs

extension Store {
  /// Takes one input and folds its immediate actions.
  ///
  /// - Returns: What became of it; nil when called from inside a publication, where the input is
  ///   queued and folded as soon as that is over.
  /// - Throws: `StoreError`; nothing has changed then, unless the input had other immediate actions.
  @discardableResult
  public func send(_ input: Machine.Input) throws(StoreError) -> SendResult? {
    if case .closed = phase { throw .closed }
    let inputID = inputIDs.issue()
    guard case .idle = phase else {
      waiting.append(.input(input, inputID))
      return nil
    }
    let before = revision
    phase = .folding
    let base = StateMark(revision: before, state: take(input, inputID))
    if failure != nil { try refuse(inputID) }
    goOn()
    return SendResult(
      inputID: inputID, base: base, revision: revision, changed: hasChanged(since: base),
      isSettled: inputIDs.isSettled(inputID))
  }

  /// Ends an input of which something was taken back.
  private func refuse(_ inputID: InputID) throws(StoreError) {
    guard let failure else { return }
    goOn()
    cancel(inputID)
    throw .unencodable(failure.error)
  }

  public func hasChanged(since mark: StateMark) -> Bool {
    // One publication is a change by definition; more of them may lead back.
    guard revision > mark.revision + 1, let before = mark.state else {
      return revision != mark.revision
    }
    return !published.isSame(as: before)
  }

  /// Takes the input that the machine wants when frontends come or go, if it wants any.
  public func take(_ phase: LifecyclePhase) {
    guard let input = machine.input(for: phase) else { return }
    // A closed store has nothing to be told any more.
    _ = try? send(input)
  }

  /// Does what is waiting, and what comes to wait meanwhile.
  func work() {
    phase = .folding
    goOn()
  }

  private func goOn() {
    var next = 0
    while next < waiting.count, phase == .folding {
      let step = waiting[next]
      next += 1
      switch step {
      case .input(let input, let inputID):
        _ = take(input, inputID)
        if failure != nil { cancelAll(of: inputID) }
      case .restart(let input, let inputID, let age):
        beginPerforming(inputID)
        observers.began(.input(inputID), input: input, revision)
        perform(restart(of: input, after: age), for: inputID)
        performed(inputID)
        if failure != nil { cancelAll(of: inputID) }
        if inputIDs.isSettled(inputID) { record?.settled(inputID) }
      case .action(let action):
        fold(action)
      case .becameFeed(let action, let number):
        becameFeed(number, giving: action)
      case .next(let next):
        perform(next.effect, for: next.inputID)
        settled(next.inputID, cancelled: false)
      case .cancel(let inputID):
        cancelAll(of: inputID)
      }
    }
    if !waiting.isEmpty { waiting.removeAll(keepingCapacity: true) }
    if phase == .folding { phase = .idle }
  }

  /// - Returns: The state before, where several publications may follow.
  private func take(_ input: Machine.Input, _ inputID: InputID) -> JSONEncodedState.Mark? {
    beginPerforming(inputID)
    observers.began(.input(inputID), input: input, revision)
    let effect = running.effect(of: input)
    let before = effect.isSingle ? nil : published.mark
    perform(effect, for: inputID)
    performed(inputID)
    if record != nil { accepted(input, inputID) }
    return before
  }

  /// Performs what begins with the store.
  func begin(_ effect: Effect<Machine.Action>) {
    if case .none = effect.step { return }
    phase = .folding
    let inputID = inputIDs.issue()
    beginning = inputID
    beginPerforming(inputID)
    observers.began(.input(inputID), revision)
    perform(effect, for: inputID)
    performed(inputID)
    work()
  }

  private func beginPerforming(_ inputID: InputID) {
    performing = inputID
    if failure != nil { failure = nil }
  }

  /// All that an input sets off has begun.
  private func performed(_ inputID: InputID) {
    performing = nil
    if inputIDs.isSettled(inputID) { observers.ended(.input(inputID), .finished, revision) }
  }
}

// MARK: - Publications

extension Store {
  /// Calls `listener` with the current value now and with every later one.
  ///
  /// - Returns: The name to stop it by. Stopping one listener cancels nothing that others watch.
  public func listen(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    let id = listeners.add(listener)
    tellCurrent(listener)
    return id
  }

  public func serve(_ server: any StoreServer) {
    precondition(listeners.server == nil, "a store is served by one")
    listeners.server = server
    tellCurrent { server.published($0) }
  }

  private func tellCurrent(_ listener: (borrowing Publication) -> Void) {
    // What it sends from inside this first call is queued like any other.
    let wasIdle = phase == .idle
    if wasIdle { phase = .folding }
    listener(
      Publication(
        base: nil, revision: revision, patch: nil, isRedaction: false, store: self))
    if wasIdle, phase == .folding { work() }
  }

  /// Calls `listener` with every later event, as JSON text that is valid during the call.
  ///
  /// - Returns: The name to stop it by.
  public func listenToEvents(
    _ listener: @escaping (UnsafeRawBufferPointer) -> Void
  ) -> ListenerID {
    listeners.add(events: listener)
  }

  /// Calls a listener no more.
  public func stopListening(_ id: ListenerID) { _ = listeners.remove(id) }

  /// Tells `trace` all that is observed from now on; nil ends it.
  public func trace(_ trace: ((TraceRecord) -> Void)?) {
    observers.trace(trace)
    if trace != nil { runner.tellParts() }
  }

  public func dropBuffers() {
    guard phase == .idle else { return }
    buffers = nil
  }

  func fold(_ action: Machine.Action) {
    guard phase == .folding else { return }
    if keepsLastState { return foldKeepingLastState(action) }
    do throws(JSONError) { try change(by: action) } catch { failed(error, after: nil) }
  }

  /// Folds an action whose state may be taken back.
  ///
  /// What an action changes is copied then, since the last state has it too.
  private func foldKeepingLastState(_ action: Machine.Action) {
    let last = running.state
    do throws(JSONError) { try change(by: action) } catch { failed(error, after: last) }
  }

  private func change(by action: Machine.Action) throws(JSONError) {
    running.reduce(action)
    observers.gave(action, .actions, revision)
    if let record {
      try publish(action, record)
    } else {
      try publish(isRedaction: machine.isRedaction(action))
    }
    if Machine.Event.self != Never.self { tellEvent(of: action) }
  }

  private func publish(
    _ action: Machine.Action, _ record: StoreRecord<Machine>
  ) throws(JSONError) {
    let before = revision
    let recorded = try encoded(for: record)
    try publish(isRedaction: machine.isRedaction(action))
    recordStep(record, recorded, hasPublished: revision != before)
  }

  /// Takes back a state that can neither be shown nor journaled, since something in it, such as a number that is not finite,
  /// cannot be encoded.
  ///
  /// - Parameter last: The state before, if it was kept.
  private func failed(_ error: JSONError, after last: Machine.State?) {
    if let last = last ?? record?.lastState { running.state = last }
    if performing != nil, failure == nil { failure = Failure(error) }
    listeners.server?.failed(error)
  }

  private func publish(isRedaction: Bool) throws(JSONError) {
    let view = running.view()
    let buffers = roomForChange()
    let needsPatch = listeners.needPatches
    buffers.patch.leavesOutValues = !needsPatch
    try Machine.advance(
      &published, to: view, by: viewEncoding, using: &buffers.encoded, writing: &buffers.patch)
    guard !buffers.patch.isEmpty else { return }
    let base = revision
    revision += 1
    if !observers.isEmpty { observers.published(view, revision) }
    buffers.patch.withBytes { patch in
      tell(
        Publication(
          base: base, revision: revision, patch: needsPatch ? patch : nil,
          isRedaction: isRedaction, store: self))
    }
  }

  // Those that listen now: whoever comes while others are told gets the current value, and the next one.
  private func tell(_ publication: borrowing Publication) {
    let all = listeners.all
    listeners.server?.published(publication)
    for listener in all where !listener.isStopped {
      if case .publication(let call) = listener.call { call(publication) }
    }
  }

  private func tell(event: UnsafeRawBufferPointer) {
    let all = listeners.all
    listeners.server?.happened(event)
    for listener in all where !listener.isStopped {
      if case .event(let call) = listener.call { call(event) }
    }
  }

  private func roomForChange() -> StoreBuffers {
    if let buffers {
      buffers.patch.removeAll(keepingCapacity: true)
      return buffers
    }
    let made = StoreBuffers()
    buffers = made
    return made
  }

  /// The operations of the change that has been published last.
  func withPatch<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    buffers.map { $0.patch.withBytes(body) } ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func tellEvent(of action: Machine.Action) {
    guard phase == .folding, let event = running.event(of: action) else { return }
    heldEvents?.append(event)
    // An event that cannot be encoded cannot be told; what frontends hold is not touched by it.
    guard let text = try? JSON.encode(event) else { return }
    text.withUnsafeBytes { tell(event: $0) }
  }
}
