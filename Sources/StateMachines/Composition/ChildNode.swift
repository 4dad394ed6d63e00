// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A child as its parent sees it: each function takes and returns values of the parent.
protocol ChildNode<Parent>: Sendable {
  associatedtype Parent: StateMachine

  var name: String { get }
  /// True if children can be absent from the state.
  var canBeAbsent: Bool { get }
  /// The error of the child or of a child of it; nil if there is none.
  func fault(isDurable: Bool) -> String?

  func refusal(
    of input: Parent.Input, in state: Parent.State, from viewer: Viewer
  ) -> InputRefusal?
  func effect(
    of input: Parent.Input, in state: Parent.State, from viewer: Viewer
  ) -> Effect<Parent.Action>
  /// Folds an action of a child.
  ///
  /// - Returns: False if the action is not one of this child.
  func reduce(_ state: inout Parent.State, _ action: Parent.Action) -> Bool
  func effect(after action: Parent.Action, in state: Parent.State) -> Effect<Parent.Action>
  func events(of action: Parent.Action, in state: Parent.State) -> [Parent.Event]
  func isRedaction(_ action: Parent.Action) -> Bool
  func inputs(for phase: LifecyclePhase, in state: Parent.State) -> [Parent.Input]
  func initialEffect(in state: Parent.State) -> Effect<Parent.Action>

  /// True if the child has an initial effect.
  var beginsWithEffect: Bool { get }
  /// The number of children that are present.
  func count(in state: Parent.State) -> Int
  /// Returns the effect that children begin with that have appeared since `keys` was set, and sets
  /// it.
  func effectOfNewChildren(
    in state: Parent.State, _ keys: inout Set<AnyHashable>
  ) -> Effect<Parent.Action>

  func restart(
    of input: Parent.Input, in state: Parent.State, after elapsed: Duration
  ) -> Effect<Parent.Action>
  func resumption(in state: Parent.State) -> Effect<Parent.Action>
  var resumesForFrontends: Bool { get }
  func interruptions(in state: Parent.State) -> [Parent.Action]
}

/// A child machine at a place in the state of its parent.
struct ScopedChild<Parent: StateMachine, Machine: StateMachine, Place: ChildPlace>: ChildNode
where Place.Parent == Parent.State, Place.Part == Machine.State {
  let name: String
  private let machine: Composed<Machine>
  private let place: Place
  private let input: CasePath<Parent.Input, (Place.Key, Machine.Input)>
  private let action: CasePath<Parent.Action, (Place.Key, Machine.Action)>
  /// Returns the parent's event for an event of a child; nil if the child has no events.
  private let event: (@Sendable (Place.Key, Machine.Event) -> Parent.Event?)?

  init(
    name: String, _ machine: Composed<Machine>, _ place: Place,
    input: CasePath<Parent.Input, (Place.Key, Machine.Input)>,
    action: CasePath<Parent.Action, (Place.Key, Machine.Action)>,
    event: (@Sendable (Place.Key, Machine.Event) -> Parent.Event?)?
  ) {
    self.name = name
    self.machine = machine
    self.place = place
    self.input = input
    self.action = action
    self.event = event
  }

  var canBeAbsent: Bool { place.canBeAbsent }

  func fault(isDurable: Bool) -> String? {
    if isDurable, machine.durability == nil {
      return "the child \(name) of the durable machine \(Parent.self) is not a DurableMachine"
    }
    return machine.fault ?? hiddenView
  }

  /// The error of a parent that shows its state, although the child shows less of its own.
  private var hiddenView: String? {
    if Machine.self is any AudienceMachine.Type, !(Parent.self is any AudienceMachine.Type) {
      return
        "the child \(name) of \(Parent.self) is an AudienceMachine, so \(Parent.self) must be one"
    }
    if Machine.ViewState.self != Machine.State.self, Parent.ViewState.self == Parent.State.self {
      return """
        the child \(name) of \(Parent.self) has a view state, which \(Parent.self) does not show; \
        give \(Parent.self) a view state that contains \(Machine.ViewState.self)
        """
    }
    return nil
  }

  // MARK: Inputs and actions

  func refusal(
    of input: Parent.Input, in state: Parent.State, from viewer: Viewer
  ) -> InputRefusal? {
    guard let (key, input) = self.input.extract(input) else { return nil }
    guard let state = place.state(key, in: state) else {
      return InputRefusal(.value, place.absence(key, of: name))
    }
    return machine.refusal(of: input, in: state, from: viewer)
  }

  func effect(
    of input: Parent.Input, in state: Parent.State, from viewer: Viewer
  ) -> Effect<Parent.Action> {
    guard let (key, input) = self.input.extract(input), let state = place.state(key, in: state)
    else { return .none }
    return scoped(machine.effect(of: input, in: state, from: viewer), key)
  }

  func reduce(_ state: inout Parent.State, _ action: Parent.Action) -> Bool {
    guard let (key, action) = self.action.extract(action) else { return false }
    place.change(key, in: &state) { machine.reduce(&$0, action) }
    return true
  }

  func effect(after action: Parent.Action, in state: Parent.State) -> Effect<Parent.Action> {
    guard let (key, action) = self.action.extract(action), let state = place.state(key, in: state)
    else { return .none }
    return scoped(machine.effect(after: action, in: state), key)
  }

  func events(of action: Parent.Action, in state: Parent.State) -> [Parent.Event] {
    guard let event, let (key, action) = self.action.extract(action),
      let state = place.state(key, in: state)
    else { return [] }
    return machine.events(of: action, in: state).compactMap { event(key, $0) }
  }

  func isRedaction(_ action: Parent.Action) -> Bool {
    self.action.extract(action).map { machine.isRedaction($0.1) } ?? false
  }

  func inputs(for phase: LifecyclePhase, in state: Parent.State) -> [Parent.Input] {
    each(in: state) { key, state in
      machine.inputs(for: phase, in: state).map { input.embed((key, $0)) }
    }
  }

  func initialEffect(in state: Parent.State) -> Effect<Parent.Action> {
    several(each(in: state) { [scoped(machine.initialEffect(in: $1), $0)] })
  }

  // MARK: Presence

  var beginsWithEffect: Bool { machine.beginsWithEffect }

  func count(in state: Parent.State) -> Int { place.count(in: state) }

  func effectOfNewChildren(
    in state: Parent.State, _ keys: inout Set<AnyHashable>
  ) -> Effect<Parent.Action> {
    let present = Set(place.keys(in: state))
    let new = present.filter { !keys.contains($0) }
    keys = Set(present.map(AnyHashable.init))
    return several(
      new.sorted { place.suffix($0) < place.suffix($1) }.compactMap { key in
        place.state(key, in: state).map { scoped(machine.initialEffect(in: $0), key) }
      })
  }

  // MARK: Restart

  func restart(
    of input: Parent.Input, in state: Parent.State, after elapsed: Duration
  ) -> Effect<Parent.Action> {
    guard let (key, input) = self.input.extract(input), let state = place.state(key, in: state)
    else { return .none }
    return scoped(machine.restart(of: input, in: state, after: elapsed), key)
  }

  func resumption(in state: Parent.State) -> Effect<Parent.Action> {
    several(each(in: state) { [scoped(machine.resumption(in: $1), $0)] })
  }

  var resumesForFrontends: Bool { machine.resumesForFrontends }

  func interruptions(in state: Parent.State) -> [Parent.Action] {
    each(in: state) { key, state in
      machine.interruptions(in: state).map { action.embed((key, $0)) }
    }
  }

  // MARK: Scope

  private func each<Result>(
    in state: Parent.State, _ body: (Place.Key, Machine.State) -> [Result]
  ) -> [Result] {
    place.keys(in: state).flatMap { key in
      place.state(key, in: state).map { body(key, $0) } ?? []
    }
  }

  private func several(_ effects: [Effect<Parent.Action>]) -> Effect<Parent.Action> {
    let effects = effects.filter { if case .none = $0.step { false } else { true } }
    return effects.isEmpty ? .none : .several(effects)
  }

  /// Returns the effect of a child as one of the parent.
  private func scoped(
    _ effect: Effect<Machine.Action>, _ key: Place.Key
  ) -> Effect<Parent.Action> {
    if case .none = effect.step { return .none }
    let (place, action) = (place, action)
    return effect.transformed(
      by: EffectTransform(
        action: { action.embed((key, $0)) },
        original: { given in action.extract(given).flatMap { $0.0 == key ? $0.1 : nil } },
        prefix: name + place.suffix(key),
        narrowed: { ($0 as? Parent.State).flatMap { place.state(key, in: $0) } },
        canVanish: place.canBeAbsent))
  }
}

extension CasePath {
  /// Returns the path for the only child at a place.
  static func single<Part>(_ path: CasePath<Root, Part>) -> CasePath
  where Value == (OnlyKey, Part) {
    CasePath({ path.embed($0.1) }, { path.extract($0).map { (OnlyKey(), $0) } })
  }
}
