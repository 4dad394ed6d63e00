// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import VersionedList

/// A child as its parent sees it: each function takes and returns values of the parent.
///
/// An object of functions and not an existential type, so that the compiler specialises the path of an
/// input for its machine, and so that a loop over many children copies no functions.
final class ChildNode<Parent: StateMachine>: Sendable {
  typealias State = Parent.State

  let name: String
  /// True if children can be absent from the state.
  let canBeAbsent: Bool
  /// True if the child has an initial effect.
  let beginsWithEffect: Bool
  /// True if the child or a child of it is aware of its viewers.
  let isPresenceAware: Bool
  /// True if the resumption of the child can wait for a frontend.
  let resumesForFrontends: Bool
  /// Returns the error of the child or of a child of it; nil if there is none.
  let fault: @Sendable (_ isDurable: Bool) -> String?

  /// Returns true for an input of this child.
  let takes: @Sendable (Parent.Input) -> Bool
  let refusal: @Sendable (Parent.Input, State, Viewer) -> InputRefusal?
  /// Returns the effect of an input of this child.
  let effect: @Sendable (Parent.Input, State, Viewer) -> Effect<Parent.Action>
  /// Returns true for an action of this child.
  let owns: @Sendable (Parent.Action) -> Bool
  /// Folds an action of this child.
  let reduce: @Sendable (inout State, Parent.Action) -> Void
  let effectAfter: @Sendable (Parent.Action, State) -> Effect<Parent.Action>
  let events: @Sendable (Parent.Action, State) -> [AddressedEvent<Parent.Event>]
  let isRedaction: @Sendable (Parent.Action) -> Bool
  let inputsForPhase: @Sendable (LifecyclePhase, State) -> [Parent.Input]
  /// Returns true if an input of the child is one that only the server sends.
  let isPresenceInput: @Sendable (Parent.Input) -> Bool
  let inputsForViewers: @Sendable ([Viewer], State) -> [Parent.Input]
  let initialEffect: @Sendable (State) -> Effect<Parent.Action>

  /// Returns the number of children that are present.
  let count: @Sendable (State) -> Int
  /// Returns the effect that children begin with that have appeared since the keys were set, and
  /// sets them.
  let effectOfNewChildren: @Sendable (State, inout Set<ByteString>) -> Effect<Parent.Action>

  let restart: @Sendable (Parent.Input, State, Duration) -> Effect<Parent.Action>
  let resumption: @Sendable (State) -> Effect<Parent.Action>
  let interruptions: @Sendable (State) -> [Parent.Action]

  init<Machine: StateMachine, Place: ChildPlace>(_ child: ScopedChild<Parent, Machine, Place>)
  where Place.Parent == Parent.State, Place.Part == Machine.State {
    name = child.name
    canBeAbsent = child.canBeAbsent
    beginsWithEffect = child.beginsWithEffect
    isPresenceAware = child.isPresenceAware
    resumesForFrontends = child.resumesForFrontends
    fault = { child.fault(isDurable: $0) }
    takes = child.input.matches
    owns = child.action.matches
    refusal = { child.refusal(of: $0, in: $1, from: $2) }
    effect = { child.effect(of: $0, in: $1, from: $2) }
    reduce = { child.reduce(&$0, $1) }
    effectAfter = { child.effect(after: $0, in: $1) }
    events = { child.events(of: $0, in: $1) }
    isRedaction = { child.isRedaction($0) }
    inputsForPhase = { child.inputs(for: $0, in: $1) }
    isPresenceInput = { child.isPresenceInput($0) }
    inputsForViewers = { child.inputs(for: $0, in: $1) }
    initialEffect = { child.initialEffect(in: $0) }
    count = { child.count(in: $0) }
    effectOfNewChildren = { child.effectOfNewChildren(in: $0, &$1) }
    restart = { child.restart(of: $0, in: $1, after: $2) }
    resumption = { child.resumption(in: $0) }
    interruptions = { child.interruptions(in: $0) }
  }
}

/// A child machine at a place in the state of its parent.
struct ScopedChild<Parent: StateMachine, Machine: StateMachine, Place: ChildPlace>: Sendable
where Place.Parent == Parent.State, Place.Part == Machine.State {
  let name: String
  private let machine: Composed<Machine>
  private let place: Place
  let input: CasePath<Parent.Input, (Place.Key, Machine.Input)>
  let action: CasePath<Parent.Action, (Place.Key, Machine.Action)>
  /// Returns the parent's event for an event of a child; nil if the child has no events.
  private let event: (@Sendable (Place.Key, Machine.Event) -> Parent.Event?)?
  private let label: KeptLabel

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
    label = KeptLabel {
      guard let key = ChildLabel.sample(of: Place.Key.self),
        let part = ChildLabel.sample(of: Machine.Input.self)
      else { return nil }
      return ChildLabel.label(of: Machine.Input.self, in: input.embed((key, part)))
    }
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
    if Machine.hasAudiences, !Parent.hasAudiences {
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
    of whole: Parent.Input, in state: Parent.State, from viewer: Viewer
  ) -> InputRefusal? {
    guard let (key, input) = input.extract(whole) else { return nil }
    guard let state = place.state(key, in: state) else {
      return InputRefusal(.value, place.absence(key, of: name))
    }
    return machine.refusal(of: input, in: state, from: viewer)?.inside(label(of: whole))
  }

  private func label(of input: Parent.Input) -> String? {
    ChildLabel.label(of: Machine.Input.self, in: input)
  }

  func effect(
    of input: Parent.Input, in state: Parent.State, from viewer: Viewer
  ) -> Effect<Parent.Action> {
    guard let (key, input) = self.input.extract(input), let state = place.state(key, in: state)
    else { return .none }
    return scoped(machine.effect(of: input, in: state, from: viewer), key)
  }

  func reduce(_ state: inout Parent.State, _ action: Parent.Action) {
    guard let (key, action) = self.action.extract(action) else { return }
    let owner = machine.owner(of: action)
    place.change(key, in: &state) { machine.reduce(&$0, action, of: owner) }
  }

  func effect(after action: Parent.Action, in state: Parent.State) -> Effect<Parent.Action> {
    guard let (key, action) = self.action.extract(action), let state = place.state(key, in: state)
    else { return .none }
    return scoped(machine.effect(after: action, of: machine.owner(of: action), in: state), key)
  }

  func events(
    of action: Parent.Action, in state: Parent.State
  ) -> [AddressedEvent<Parent.Event>] {
    guard let event, let (key, action) = self.action.extract(action),
      let state = place.state(key, in: state)
    else { return [] }
    return machine.events(of: action, of: machine.owner(of: action), in: state).compactMap { own in
      event(key, own.event).map { AddressedEvent(event: $0, recipients: own.recipients) }
    }
  }

  func isRedaction(_ action: Parent.Action) -> Bool {
    guard let (_, action) = self.action.extract(action) else { return false }
    return machine.isRedaction(action, of: machine.owner(of: action))
  }

  func inputs(for phase: LifecyclePhase, in state: Parent.State) -> [Parent.Input] {
    each(in: state) { key, state in
      machine.inputs(for: phase, in: state).map { input.embed((key, $0)) }
    }
  }

  var isPresenceAware: Bool { machine.isPresenceAware }

  func isPresenceInput(_ input: Parent.Input) -> Bool {
    self.input.extract(input).map { machine.isPresenceInput($0.1) } ?? false
  }

  func inputs(for viewers: [Viewer], in state: Parent.State) -> [Parent.Input] {
    each(in: state) { key, state in
      machine.inputs(for: viewers, in: state).map { input.embed((key, $0)) }
    }
  }

  func initialEffect(in state: Parent.State) -> Effect<Parent.Action> {
    several(each(in: state) { [scoped(machine.initialEffect(in: $1), $0)] })
  }

  // MARK: Presence

  var beginsWithEffect: Bool { machine.beginsWithEffect }

  func count(in state: Parent.State) -> Int { place.count(in: state) }

  func effectOfNewChildren(
    in state: Parent.State, _ keys: inout Set<ByteString>
  ) -> Effect<Parent.Action> {
    // By the bytes of the suffixes: ids can be equal as strings and not as keys of a list.
    var present: [ByteString: Place.Key] = [:]
    for key in place.keys(in: state) { present[ByteString(place.suffix(key))] = key }
    let new = present.filter { !keys.contains($0.key) }
    keys = Set(present.keys)
    return several(
      new.sorted { $0.key.string.utf8.lexicographicallyPrecedes($1.key.string.utf8) }.compactMap {
        _, key in
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
    let (place, action, suffix) = (place, action, place.suffix(key))
    switch effect.step {
    case .none: return .none
    case .action(let own): return .action(action.embed((key, own)))
    default: break
    }
    return effect.transformed(
      by: EffectTransform(
        action: { action.embed((key, $0)) },
        original: { given in
          action.extract(given).flatMap { place.suffix($0.0).hasSameBytes(as: suffix) ? $0.1 : nil }
        },
        prefix: name + suffix,
        narrowed: { ($0 as? Parent.State).flatMap { place.state(key, in: $0) } },
        canVanish: place.canBeAbsent, label: label))
  }
}

extension CasePath {
  /// Returns the path for the only child at a place.
  static func single<Part>(_ path: CasePath<Root, Part>) -> CasePath
  where Value == (OnlyKey, Part) {
    CasePath(
      embed: { path.embed($0.1) }, extract: { path.extract($0).map { (OnlyKey(), $0) } },
      matches: path.matches)
  }
}
