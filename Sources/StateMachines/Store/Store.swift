// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Runs one state machine: performs its effects, folds its actions, publishes what changed.
///
/// A store is a plain synchronous object on the actor that hosts it. Its promises:
/// - Inputs and actions are folded one at a time, in arrival order. What is sent from inside a
///   publication is queued and folded right after.
/// - One action gives at most one publication, after the state is written; none if nothing that
///   frontends see has changed, that is, if the patch is empty.
/// - Listeners get the current value at once, then every later one, in the order they came.
/// - The stream never fails. Closing cancels what runs and drops what is queued; later inputs are
///   refused. A store that is let go of closes.
public final class Store<Machine: StateMachine> {
  /// The machine that runs here.
  public let machine: Machine
  /// How many states have been published since the first one, which is revision 0.
  public private(set) var revision: Revision
  /// The folded state.
  public private(set) var state: Machine.State

  /// What listeners hold. It is brought forward by each change of the view state and shares
  /// nothing with it, so that a list in the state can be changed in place.
  private var published: JSONEncodedState
  private var patch = JSONPatchWriter()

  private var phase = Phase.idle
  private var waiting: [Step] = []
  /// The input whose effects are being begun; it is not settled before all of them have been.
  private var performing: Ticket?
  private var listeners: [(id: ListenerID, call: (borrowing Publication) -> Void)] = []
  private var lastListener = 0

  private let runner: EffectRunner<Machine.Action>
  private var tickets = Tickets()
  private let hooks: HookQueues<Machine.Input, Machine.Action>

  private enum Phase { case idle, folding, closed }

  /// One thing to do, in its turn.
  private enum Step {
    case input(Machine.Input, Ticket)
    case action(Machine.Action, Ticket)
    /// Work gave an action and goes on as a feed.
    case becameFeed(Machine.Action, RunNumber)
    case cancel(Ticket)
  }

  /// Makes a store in the machine's initial state.
  ///
  /// - Parameters:
  ///   - machine: What to run.
  ///   - number: The name under which `host` hands messages back to this store.
  ///   - host: The actor that owns the store.
  ///   - clock: The time that effects wait on.
  ///   - hooks: Observers of inputs and operations; they never alter the stream.
  ///   - revision: Where counting goes on when a store of the same name was here before.
  /// - Throws: `JSONError` if the initial view state cannot be encoded.
  public init(
    _ machine: Machine,
    number: StoreNumber,
    host: any StoreHost,
    clock: any StoreClock = SystemClock(),
    hooks: [Hook<Machine.Input, Machine.Action>] = [],
    revision: Revision = 0
  ) throws(JSONError) {
    self.machine = machine
    self.revision = revision
    state = machine.initialState
    published = try JSONEncodedState(machine.view(of: machine.initialState))
    runner = EffectRunner(host: host, store: number, clock: clock)
    self.hooks = HookQueues(hooks)
  }

  deinit { close() }
}

// MARK: - Inputs

extension Store {
  /// Takes one input and folds its immediate actions.
  ///
  /// - Returns: What became of it; nil when called from inside a publication, where the input is
  ///   queued and folded as soon as that is over.
  /// - Throws: `StoreError.closed`; nothing has changed then.
  @discardableResult
  public func send(_ input: Machine.Input) throws(StoreError) -> Receipt? {
    if case .closed = phase { throw .closed }
    let ticket = tickets.issue()
    waiting.append(.input(input, ticket))
    guard case .idle = phase else { return nil }
    let before = revision
    work()
    return Receipt(
      ticket: ticket, base: before, revision: revision, changed: revision != before,
      isSettled: tickets.isSettled(ticket))
  }

  /// Does what is waiting, and what comes to wait meanwhile.
  private func work() {
    phase = .folding
    var next = 0
    while next < waiting.count, phase == .folding {
      let step = waiting[next]
      next += 1
      switch step {
      case .input(let input, let ticket):
        performing = ticket
        hooks.inputReceived(input, ticket)
        perform(machine.effect(of: input, in: state), for: ticket)
        performing = nil
        if tickets.isSettled(ticket) { hooks.inputSettled(ticket, cancelled: false) }
      case .action(let action, let ticket):
        fold(action, for: ticket)
      case .becameFeed(let action, let number):
        becameFeed(number, giving: action)
      case .cancel(let ticket):
        cancelled(runner.cancel(ticket))
      }
    }
    waiting.removeAll(keepingCapacity: true)
    if phase == .folding { phase = .idle }
  }

  private func perform(_ effect: Effect<Machine.Action>, for ticket: Ticket) {
    // What comes after a step that closed the store is not done.
    guard phase == .folding else { return }
    switch effect.step {
    case .none:
      break
    case .action(let action):
      hooks.inputGave(action, ticket)
      fold(action, for: ticket)
    case .several(let effects):
      for effect in effects { perform(effect, for: ticket) }
    case .cancel(let id, let feeds):
      cancelled(runner.cancel(id, feeds: feeds))
    case .work(let work):
      guard let run = runner.begin(work, for: ticket) else { return }
      hooks.workBegan(run.operation)
      if !run.isFeed { tickets.began(ticket) }
    }
  }

  private func fold(_ action: Machine.Action, for ticket: Ticket) {
    guard phase == .folding else { return }
    machine.reduce(&state, action)
    publish(for: ticket)
  }
}

// MARK: - Publications

extension Store {
  /// Calls `listener` with the current value now and with every later one.
  ///
  /// - Returns: The name to stop it by. Stopping one listener cancels nothing that others watch.
  public func listen(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    lastListener += 1
    let id = ListenerID(rawValue: lastListener)
    listeners.append((id, listener))
    // What it sends from inside this first call is queued like any other.
    let wasIdle = phase == .idle
    if wasIdle { phase = .folding }
    listener(Publication(base: nil, revision: revision, patch: nil, state: published))
    if wasIdle, phase == .folding { work() }
    return id
  }

  /// Calls a listener no more.
  public func stopListening(_ id: ListenerID) {
    listeners.removeAll { $0.id == id }
  }

  /// Writes the current view state as JSON text.
  public func writeState(to writer: inout JSONWriter) {
    published.write(to: &writer)
  }

  private func isListening(_ id: ListenerID) -> Bool { listeners.contains { $0.id == id } }

  private func publish(for ticket: Ticket) {
    let view = machine.view(of: state)
    // A view state that cannot be encoded (a number that is not finite) cannot be shown: what
    // frontends hold stays, and the next state that can be encoded leads on from there.
    guard let next = try? JSONEncodedState(view) else { return }
    patch.removeAll(keepingCapacity: true)
    published.advance(to: next, writing: &patch)
    guard !patch.isEmpty else { return }
    let base = revision
    revision += 1
    if ticket != performing { tickets.changed(ticket) }
    patch.withBytes { patch in
      // One that an earlier one stops is not called any more.
      for (id, listener) in listeners where isListening(id) {
        listener(Publication(base: base, revision: revision, patch: patch, state: published))
      }
    }
  }
}

// MARK: - Running effects

extension Store {
  /// Takes what running work of this store has to say.
  public func receive(_ message: EffectMessage) {
    switch message.news {
    case .action(let action):
      guard phase != .closed, let run = runner.run(message.run),
        let action = action as? Machine.Action
      else { return }
      hooks.workGave(action, run.operation)
      waiting.append(.action(action, run.ticket))
      if phase == .idle { work() }
    case .becameFeed(let action):
      guard phase != .closed, let action = action as? Machine.Action else { return }
      waiting.append(.becameFeed(action, message.run))
      if phase == .idle { work() }
    case .ended:
      guard let run = runner.ended(message.run) else { return }
      hooks.workEnded(run.operation, cancelled: false)
      if !run.isFeed { settled(run, cancelled: false) }
    }
  }

  /// Cancels the effects of an input, feeds excepted; they count as ended.
  ///
  /// From inside a publication that is queued, like an input.
  public func cancel(_ ticket: Ticket) {
    guard phase != .closed else { return }
    waiting.append(.cancel(ticket))
    if phase == .idle { work() }
  }

  /// Calls `body` once all effects of an input have ended, at once if they have.
  public func whenSettled(_ ticket: Ticket, _ body: @escaping (Settlement) -> Void) {
    if tickets.isSettled(ticket) {
      body(Settlement(revision: revision, changed: false, wasClosed: phase == .closed))
    } else {
      tickets.wait(for: ticket, body)
    }
  }

  /// Whether the store has been closed.
  public var isClosed: Bool { phase == .closed }

  /// The tasks of all work that has not ended, cancelled or not.
  public var unfinished: [Task<Void, Never>] { runner.unfinished }

  /// Ends the store: cancels its effects, answers whoever waits for them, forgets its listeners.
  ///
  /// - Returns: The tasks that are still on their way out, to be awaited where that matters.
  @discardableResult
  public func close() -> [Task<Void, Never>] {
    guard phase != .closed else { return [] }
    phase = .closed
    for run in runner.cancelAll() { hooks.workEnded(run.operation, cancelled: true) }
    listeners.removeAll()
    let open = tickets.closeAll()
    if let performing, !open.contains(where: { $0.ticket == performing }) {
      hooks.inputSettled(performing, cancelled: true)
    }
    for (ticket, waiters) in open {
      hooks.inputSettled(ticket, cancelled: true)
      for waiter in waiters {
        waiter(Settlement(revision: revision, changed: false, wasClosed: true))
      }
    }
    hooks.end()
    return runner.unfinished
  }

  private func becameFeed(_ number: RunNumber, giving action: Machine.Action) {
    guard let run = runner.run(number) else { return }
    cancelled(runner.cancelFeeds(before: run))
    hooks.workGave(action, run.operation)
    fold(action, for: run.ticket)
    if runner.becameFeed(number) != nil { settled(run, cancelled: false) }
  }

  /// Work was cancelled.
  private func cancelled(_ runs: [EffectRunner<Machine.Action>.Run]) {
    for run in runs {
      if let action = run.cancelled { hooks.workGave(action, run.operation) }
      hooks.workEnded(run.operation, cancelled: true)
    }
    for run in runs {
      // Folded before anybody is told, so that whoever holds the answer holds the state.
      if let action = run.cancelled { fold(action, for: run.ticket) }
      if !run.isFeed { settled(run, cancelled: true) }
    }
  }

  /// Work is no longer one of those that its input waits for.
  private func settled(_ run: EffectRunner<Machine.Action>.Run, cancelled: Bool) {
    guard let settled = tickets.ended(run.ticket), run.ticket != performing else { return }
    hooks.inputSettled(run.ticket, cancelled: cancelled)
    for waiter in settled.waiters {
      waiter(Settlement(revision: revision, changed: settled.changed, wasClosed: false))
    }
  }
}
