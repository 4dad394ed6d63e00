// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// The property of viewers that selects their view.
enum ViewKey: String, Codable, Sendable {
  case identity, frontend, role

  func value(of viewer: Viewer) -> String? {
    switch self {
    case .identity: viewer.identity
    case .frontend: viewer.name
    case .role: viewer.role.rawValue
    }
  }
}

/// The audiences of a machine: `Everyone`, or the values of a `ViewKey`.
protocol ProcessAudience: Hashable, Sendable {
  init(_ value: String?)
  var key: String? { get }
}

extension Everyone: ProcessAudience {
  init(_ value: String?) { self = Self.init() }
  var key: String? { nil }
}

/// The viewers with one value of the property that selects views.
struct KeyedAudience: ProcessAudience {
  let key: String?
  init(_ value: String?) { key = value.map(viewName) }
}

/// A machine that runs in a program: inputs and actions are exchanges with the program, whose responses
/// are folded.
struct ProcessMachine<Audience: ProcessAudience>: StateMachine {
  typealias Input = ProcessInput
  typealias Action = ProcessAction
  typealias State = ProcessState
  typealias ViewState = VersionedValue
  typealias Event = ProcessEvent

  /// The store in the program.
  let store: ProgramStore
  let viewKey: ViewKey?
  let initialState: ProcessState

  var initialEffect: Effect<Action> {
    .several([watch(initialState)] + begin(Array(initialState.pending), in: initialState))
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    effect(of: input, in: state, from: .server)
  }

  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    .identified { [store] id in
      .exchange("input") { store.send(input.text, from: viewer, number: id?.number, $0) }
    }
  }

  func refusal(of input: Input, in state: State) -> InputRefusal? {
    guard !state.hasTooManyEffects else {
      return InputRefusal(
        .limit("effects"),
        "the store has more than \(ProcessState.maximumEffects) effects that have not ended")
    }
    return store.refusal(of: input.text)
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .updated(let update): state.take(update)
    case .dropped(let key): state.end(key)
    case .act, .happened, .failed, .reloaded, .reloadFailed: break
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    switch action {
    case .updated(let update):
      guard !update.effects.isEmpty || !update.events.isEmpty else { return .none }
      let events = update.events.map { Effect.action(Action.happened($0)) }
      return .several(events + begin(update.effects, in: state))
    case .act(let action, let key, let origin, let failure):
      // A program whose actions have more and more effects would fill the memory.
      let isDropped = state.hasTooManyEffects
      return .exchange("action") { [store] in
        store.act(action, of: key, origin, failure, isDropped: isDropped, $0)
      }
    case .failed(let key, let failure):
      guard let pending = state.pending[id: key] else { return .none }
      guard let action = pending.effect.failed else { return .action(.dropped(key)) }
      return .action(.act(action, of: key, .end, failure))
    case .happened, .dropped, .reloaded, .reloadFailed: return .none
    }
  }

  func view(of state: State) -> VersionedValue { state.view(of: nil) }

  func hiddenBytes(of state: State) -> Int { state.hiddenBytes }

  func event(of action: Action, in state: State) -> ProcessEvent? {
    if case .happened(let event) = action { event } else { nil }
  }

  func recipients(of event: ProcessEvent, in state: State) -> EventRecipients {
    guard let recipients = event.recipients else { return .everyone }
    guard let viewKey else { return .only { _ in false } }
    let names = Set(recipients.map(viewName))
    return .only { viewKey.value(of: $0).map { names.contains(viewName($0)) } ?? false }
  }

  func isRedaction(_ action: Action) -> Bool {
    if case .updated(let update) = action { update.isRedaction } else { false }
  }

  /// Passes the viewers on to the program. Its response is not an effect of an input, which would be
  /// journaled: viewers do not outlive the process.
  func input(for viewers: [Viewer]) -> Never? {
    store.viewersChanged(viewers)
    return nil
  }

  func audience(of viewer: Viewer) -> Audience { Audience(viewKey?.value(of: viewer)) }

  func view(of state: State, for audience: Audience) -> VersionedValue {
    state.view(of: audience.key)
  }
}

extension ProcessMachine: DurableMachine {
  func resumption(in state: State) -> Effect<Action> {
    .several([watch(state)] + resume(in: state))
  }

  func journaled(_ input: Input, from viewer: Viewer) -> Input { input.journaled(from: viewer) }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    // The program has responded to the input: its effects continue by themselves.
    .identified { [store] id in
      if let id, let answered = state.answered, id.number <= answered { return .none }
      let (text, viewer) = input.original
      return .exchange("input") { store.send(text, from: viewer, number: id?.number, $0) }
    }
  }

  /// Returns the feed of updates that the program makes by itself: after its restart, and when the
  /// viewers have changed.
  private func watch(_ state: State) -> Effect<Action> {
    .exchanges("program") { [store] in store.begin(from: state, $0) }
  }
}
