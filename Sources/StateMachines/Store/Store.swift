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
  private let presence: ChildPresence<Machine>?
  /// The audiences; nil if all viewers see the same view.
  let audiences = Audiences<Machine>.ofMachine()
  /// The encoded view state, as listeners hold it. Each change of the view state updates it. It
  /// holds no reference that prevents a list in the state from being changed in place.
  var published: JSONEncodedState
  /// Buffers that are reused for the changes of a turn.
  private var buffers: StoreBuffers?
  private let viewEncoding: JSONEncoding<Machine.ViewState>
  /// True if there may be view states that cannot be encoded.
  private let keepsLastState = JSONEncoding<Machine.ViewState>().canFail
  let inputDecoding = JSONDecoding<Machine.Input>()

  var phase = Phase.idle
  var waiting: [Step] = []
  /// The input whose effects are being started; it cannot settle before all of them have been
  /// started.
  var performing: InputID?
  var listeners = Listeners()

  let runner: EffectRunner<Machine.Action>
  var inputIDs: InputIDs
  var observers: Observers<Machine>
  /// The record of inputs and state for a recorder; nil if the store is never recorded.
  var record: StoreRecord<Machine>?
  /// The unsettled ids of effects that belong to no input: of the initial effect, and of effects
  /// after actions of feeds.
  var effectsWithoutInput: Set<InputID> = []
  /// The effects that folded actions have caused and that have not been performed, in order.
  var following: [Following] = []
  /// True while effects are performed that actions of work have caused.
  package internal(set) var isFollowing = false
  /// The state before the input that is being performed; nil while at most one publication can
  /// follow.
  private var base: JSONEncodedState.Mark?
  /// The reason why an immediate action of the last input was taken back; nil if none was. After a
  /// failure no further effect of the input is performed.
  private(set) var failure: Failure?

  /// A failure of the initial effect, which began before the store had a server; nil if there is
  /// none.
  var unreported: Failure?

  enum Phase { case idle, folding, closed }

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
    // Most actions of a machine with children change one child.
    viewEncoding = JSONEncoding(keepsMembers: !composed.children.isEmpty)
    presence = composed.canVanish ? ChildPresence(composed.children, in: state) : nil
    self.revision = revision
    published = try JSONEncodedState(machine.view(of: state))
    inputIDs = InputIDs(after: lastOperation)
    runner = EffectRunner(host: host, store: number, environment: environment)
    observers = Observers(hooks)
    if !observers.isEmpty { runner.reportParts() }
    observers.opened(revision)
  }

  deinit { close() }
}

// MARK: - Inputs

extension Store {
  /// Takes one input and folds its immediate actions.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - viewer: The participant that sends it.
  /// - Returns: The result; nil if called inside a publication, because then the input is queued
  ///   and folded after the publication.
  /// - Throws: `StoreError`; nothing has changed, unless the input had other immediate actions.
  @discardableResult
  public func send(
    _ input: Machine.Input, from viewer: Viewer = .server
  ) throws(StoreError) -> SendResult? {
    if case .closed = phase { throw .closed }
    let inputID = inputIDs.issue()
    guard case .idle = phase else {
      waiting.append(.input(input, inputID, viewer))
      return nil
    }
    let before = revision
    phase = .folding
    take(input, inputID, viewer)
    let base = StateMark(revision: before, state: takeBase())
    if failure != nil { try refuse(inputID) }
    runSteps()
    return SendResult(
      inputID: inputID, base: base, revision: revision, changed: hasChanged(since: base),
      isSettled: inputIDs.isSettled(inputID), isReplied: inputIDs.isReplied(inputID))
  }

  /// Cancels the effects of an input of which an action was taken back, and throws the reason.
  private func refuse(_ inputID: InputID) throws(StoreError) {
    guard let failure else { return }
    runSteps()
    cancel(inputID)
    throw .unencodable(failure.error)
  }

  /// Returns true if the view state differs from an earlier one; see `AnyStore.hasChanged`.
  public func hasChanged(since mark: StateMark) -> Bool {
    // One publication is always a change; several may lead back to the same state.
    guard revision > mark.revision + 1, let before = mark.state else {
      return revision != mark.revision
    }
    return !published.isSame(as: before)
  }

  /// Takes the input that the machine returns for a phase, if any.
  public func take(_ phase: LifecyclePhase) {
    // A closed store ignores the change of phase.
    for input in running.composed.inputs(for: phase, in: running.state) { _ = try? send(input) }
  }

  /// Performs the queued steps, including those that are queued meanwhile.
  func work() {
    phase = .folding
    runSteps()
  }

  private func runSteps() {
    if !following.isEmpty { performFollowing() }
    var next = 0
    while next < waiting.count, phase == .folding {
      let step = waiting[next]
      next += 1
      switch step {
      case .input(let input, let inputID, let viewer):
        take(input, inputID, viewer)
        _ = takeBase()
        if failure != nil { cancelAll(of: inputID) }
      case .restart(let input, let inputID, let age):
        beginPerforming(inputID)
        observers.began(.input(inputID), input: input, revision)
        perform(restart(of: input, after: age), for: inputID)
        performFollowing(of: inputID)
        performed(inputID)
        _ = takeBase()
        if failure != nil { cancelAll(of: inputID) }
        if inputIDs.isSettled(inputID) { record?.settled(inputID) }
      case .action(let action, let inputID):
        fold(action, for: inputID)
      case .becameFeed(let action, let number):
        becameFeed(number, giving: action)
      case .next(let next):
        runner.cause = next.cause
        perform(next.effect, for: next.inputID)
        runner.cause = nil
        settled(next.inputID, cancelled: false)
      case .cancel(let inputID):
        cancelAll(of: inputID)
      case .replied(let run, let action, let refusal):
        replied(run, action, refusal)
      }
      if !following.isEmpty { performFollowing() }
    }
    if !waiting.isEmpty { waiting.removeAll(keepingCapacity: true) }
    if phase == .folding { phase = .idle }
  }

  /// Performs the effect of an input, and sets `base`.
  private func take(_ input: Machine.Input, _ inputID: InputID, _ viewer: Viewer) {
    beginPerforming(inputID)
    observers.began(.input(inputID), input: input, revision)
    if let span = runner.cause { describe(span, input) }
    let effect = running.effect(of: input, from: viewer)
    if !effect.isSingle { base = published.mark }
    perform(effect, for: inputID)
    if !following.isEmpty { performFollowing(of: inputID) }
    performed(inputID)
    if record != nil { accepted(input, inputID, viewer) }
  }

  /// Adds the name of an input to its span. A value that is not an enum has no name.
  private func describe(_ span: any TraceSpan, _ input: Machine.Input) {
    let name = caseName(of: input)
    if name != "\(Machine.Input.self)" { span.describe(input: name) }
  }

  /// Performs an effect that belongs to no input.
  func begin(_ effect: Effect<Machine.Action>) {
    if case .none = effect.step { return }
    phase = .folding
    performWithoutInput(effect)
    work()
  }

  /// Returns `base`, and sets it to nil.
  private func takeBase() -> JSONEncodedState.Mark? {
    guard let base else { return nil }
    self.base = nil
    return base
  }

  /// Performs an effect that belongs to no input, under an id of its own.
  func performWithoutInput(_ effect: Effect<Machine.Action>) {
    let inputID = inputIDs.issue()
    effectsWithoutInput.insert(inputID)
    beginPerforming(inputID)
    observers.began(.input(inputID), revision)
    perform(effect, for: inputID)
    performFollowing(of: inputID)
    performed(inputID)
    _ = takeBase()
    if failure != nil { cancelAll(of: inputID) }
    if inputIDs.isSettled(inputID) { effectsWithoutInput.remove(inputID) }
  }

  private func beginPerforming(_ inputID: InputID) {
    performing = inputID
    if failure != nil { failure = nil }
  }

  /// Notes that all effects of an input have been started.
  private func performed(_ inputID: InputID) {
    performing = nil
    if inputIDs.isSettled(inputID) { observers.ended(.input(inputID), .finished, revision) }
  }
}

// MARK: - Publications

extension Store {
  /// Calls `listener` immediately with the current value, and later with each new one.
  ///
  /// - Returns: The id for `stopListening(_:)`. Other listeners are not affected when this one
  ///   stops.
  public func listen(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    let id = listeners.add(listener)
    sendCurrent(listener)
    return id
  }

  /// Passes the current value, and later each new value and event, to a server before other
  /// listeners.
  ///
  /// - Precondition: the store has no other server.
  public func serve(_ server: any StoreServer) {
    precondition(listeners.server == nil, "the store has a server already")
    listeners.server = server
    sendCurrent { server.published($0) }
    if let failure = unreported {
      unreported = nil
      server.failed(failure.error)
    }
  }

  private func sendCurrent(_ listener: (borrowing Publication) -> Void) {
    // Inputs that the listener sends in this first call are queued like any other.
    let wasIdle = phase == .idle
    if wasIdle { phase = .folding }
    listener(
      Publication(
        base: nil, revision: revision, patch: nil, isRedaction: false, store: self))
    if wasIdle, phase == .folding { work() }
  }

  /// Calls `listener` with each later event, as JSON text that is valid during the call.
  ///
  /// - Returns: The id for `stopListening(_:)`.
  public func listenToEvents(
    _ listener: @escaping (UnsafeRawBufferPointer) -> Void
  ) -> ListenerID {
    listeners.add(events: listener)
  }

  /// Removes a listener; it is not called again.
  public func stopListening(_ id: ListenerID) { _ = listeners.remove(id) }

  /// Sets the span of the inputs that are sent from now on; nil if they are not traced.
  public func trace(in span: (any TraceSpan)?) { runner.cause = span }

  /// Sends all later trace records to `trace`; nil ends the trace.
  public func trace(_ trace: ((TraceRecord) -> Void)?) {
    observers.trace(trace)
    if trace != nil { runner.reportParts() }
  }

  /// Releases the memory that is kept for the next change; that change takes a little longer.
  public func dropBuffers() {
    guard phase == .idle else { return }
    buffers = nil
  }

  /// Folds an action.
  ///
  /// - Parameter inputID: The input of the effect that gave the action; nil for a feed.
  func fold(_ action: Machine.Action, for inputID: InputID?) {
    guard phase == .folding else { return }
    if keepsLastState { return foldKeepingLastState(action, for: inputID) }
    do throws(JSONError) { try change(by: action, for: inputID) } catch {
      failed(error, after: nil)
    }
  }

  /// Folds an action whose state may be taken back.
  ///
  /// The parts of the state that the action changes are copied, because the previous state is kept.
  private func foldKeepingLastState(_ action: Machine.Action, for inputID: InputID?) {
    let last = running.state
    do throws(JSONError) { try change(by: action, for: inputID) } catch {
      failed(error, after: last)
    }
  }

  private func change(by action: Machine.Action, for inputID: InputID?) throws(JSONError) {
    let child = running.reduce(action)
    let effect = running.effect(after: action, of: child)
    guard presence == nil, case .none = effect.step else {
      return try publish(action, of: child, for: inputID, before: effect)
    }
    try publish(action, of: child)
  }

  /// Publishes an action that can have consequences: it has an effect, or children may have appeared
  /// or vanished.
  private func publish(
    _ action: Machine.Action, of child: ChildNode<Machine>?, for inputID: InputID?,
    before effect: Effect<Machine.Action>
  ) throws(JSONError) {
    let children = presence.flatMap { running.change(of: $0, isOfChild: child != nil) }
    let effect = children?.effect.before(effect) ?? effect
    let isFollowed = if case .none = effect.step { false } else { true }
    // The effect can lead to further publications.
    if isFollowed, performing != nil, base == nil { base = published.mark }
    try publish(action, of: child)
    if let children, children.mayHaveVanished { cancelVanished() }
    if isFollowed { follow(effect, for: inputID) }
  }

  private func publish(
    _ action: Machine.Action, of child: ChildNode<Machine>?
  ) throws(JSONError) {
    observers.gave(action, .actions, revision)
    if let record {
      try publish(isRedaction: running.isRedaction(action, of: child), record)
    } else {
      try publish(isRedaction: running.isRedaction(action, of: child))
    }
    if Machine.Event.self != Never.self { sendEvents(of: action, of: child) }
  }

  private func publish(
    isRedaction: Bool, _ record: StoreRecord<Machine>
  ) throws(JSONError) {
    let before = revision
    let recorded = try encoded(for: record)
    try publish(isRedaction: isRedaction)
    recordStep(record, recorded, hasPublished: revision != before)
  }

  /// Takes back a state that cannot be encoded, for example because it contains a number that is
  /// not finite, and notes the failure.
  ///
  /// - Parameter last: The previous state; nil if it was not kept, or if the state stays.
  func failed(_ error: JSONError, after last: Machine.State?) {
    if let last = last ?? record?.lastState { running.state = last }
    if performing != nil, failure == nil { failure = Failure(error) }
    listeners.server?.failed(error)
    observers.tested(.failed(.unencodable(error)))
  }

  private func publish(isRedaction: Bool) throws(JSONError) {
    let view = running.view()
    let buffers = buffersForChange()
    let needsPatch = listeners.needPatches
    buffers.patch.leavesOutValues = !needsPatch
    if let audiences { return try publish(view, to: audiences, isRedaction: isRedaction, buffers) }
    try Machine.advance(
      &published, to: view, by: viewEncoding, using: &buffers.encoded, writing: &buffers.patch)
    guard !buffers.patch.isEmpty else { return }
    let base = revision
    revision += 1
    if !observers.isEmpty { observers.published(view, revision) }
    buffers.patch.withBytes { patch in
      notify(
        Publication(
          base: base, revision: revision, patch: needsPatch ? patch : nil,
          isRedaction: isRedaction, store: self))
    }
  }

  /// Publishes the views of the audiences, and the view of the machine to other listeners.
  private func publish(
    _ view: Machine.ViewState, to audiences: Audiences<Machine>, isRedaction: Bool,
    _ buffers: StoreBuffers
  ) throws(JSONError) {
    // All are encoded before one is published: one that cannot be takes back the whole state.
    let views = try audiences.encode(running.state, of: machine)
    try Machine.advance(
      &published, to: view, by: viewEncoding, using: &buffers.encoded, writing: &buffers.patch)
    let patches = views.map { $0.store.advance(to: $0.shown) }
    guard !buffers.patch.isEmpty || patches.contains(where: { $0 != nil }) else { return }
    let base = revision
    revision += 1
    if !observers.isEmpty { observers.published(view, revision) }
    buffers.patch.withBytes { patch in
      notify(
        Publication(
          base: base, revision: revision, patch: listeners.needPatches ? patch : nil,
          isRedaction: isRedaction, store: self))
    }
    let published = revision
    for (view, patch) in zip(views, patches) {
      if let patch { view.store.publish(patch, revision: published, isRedaction: isRedaction) }
    }
  }

  // Calls the listeners of this moment: a listener that is added meanwhile receives the current
  // value and then the next one.
  private func notify(_ publication: borrowing Publication) {
    let all = listeners.all
    listeners.server?.published(publication)
    for listener in all where !listener.isStopped {
      if case .publication(let call) = listener.call { call(publication) }
    }
  }

  private func notify(event: UnsafeRawBufferPointer, _ recipients: EventRecipients) {
    let all = listeners.all
    listeners.server?.happened(event, for: recipients)
    if let audiences { for audience in audiences.all { audience.happened(event, for: recipients) } }
    for listener in all where !listener.isStopped {
      if case .event(let call) = listener.call { call(event) }
    }
  }

  private func buffersForChange() -> StoreBuffers {
    if let buffers {
      buffers.patch.removeAll(keepingCapacity: true)
      return buffers
    }
    let made = StoreBuffers()
    buffers = made
    return made
  }

  /// Calls `body` with the operations of the last published change.
  func withPatch<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    buffers.map { $0.patch.withBytes(body) } ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func sendEvents(of action: Machine.Action, of child: ChildNode<Machine>?) {
    guard phase == .folding else { return }
    for addressed in running.events(of: action, of: child) {
      observers.tested(.event(addressed.event))
      // An event that cannot be encoded is not sent; the view state does not depend on it.
      guard let text = try? JSON.encode(addressed.event) else { continue }
      text.withUnsafeBytes { notify(event: $0, addressed.recipients) }
    }
  }
}
