// SPDX-License-Identifier: Apache-2.0

/// A machine with its children: the functions of the whole.
///
/// Each function asks the children first. An input or an action belongs to the first child that has
/// its case; the others are not asked. A machine without children costs one comparison more: a loop
/// over an empty array would retain and release it.
struct Composed<Machine: StateMachine>: Sendable {
  let machine: Machine
  let children: [ChildNode<Machine>]

  init(_ machine: Machine) {
    self.machine = machine
    children = machine.children.map(\.node)
  }

  /// True if children can be absent from the state.
  var canVanish: Bool { children.contains { $0.canBeAbsent } }

  /// The error of the composition, which prevents the store from being opened; nil if there is none.
  var fault: String? {
    if children.isEmpty { return nil }
    let names = children.map(\.name)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      return "\(Machine.self) has two children with the name \(twice)"
    }
    if let empty = names.first(where: { $0.isEmpty || $0.contains("/") }) {
      return
        "\(Machine.self) has a child with the name \"\(empty)\", which is empty or contains a /"
    }
    let isDurable = durability != nil
    return children.lazy.compactMap { $0.fault(isDurable) }.first
  }

  func refusal(
    of input: Machine.Input, in state: Machine.State, from viewer: Viewer
  ) -> InputRefusal? {
    if let refusal = receiver(of: input)?.refusal(input, state, viewer) { return refusal }
    return machine.refusal(of: input, in: state, from: viewer)
  }

  func effect(
    of input: Machine.Input, in state: Machine.State, from viewer: Viewer
  ) -> Effect<Machine.Action> {
    guard let child = receiver(of: input) else {
      return machine.effect(of: input, in: state, from: viewer)
    }
    return child.effect(input, state, viewer)
      .before(machine.effect(of: input, in: state, from: viewer))
  }

  /// Returns the child to which an input belongs; nil if it is one of the machine itself.
  private func receiver(of input: Machine.Input) -> ChildNode<Machine>? {
    children.isEmpty ? nil : children.first { $0.takes(input) }
  }

  /// Returns the child to which an action belongs; nil if it is one of the machine itself.
  func owner(of action: Machine.Action) -> ChildNode<Machine>? {
    children.isEmpty ? nil : children.first { $0.owns(action) }
  }

  /// Folds an action.
  func reduce(
    _ state: inout Machine.State, _ action: Machine.Action, of child: ChildNode<Machine>?
  ) {
    child?.reduce(&state, action)
    machine.reduce(&state, action)
  }

  func effect(
    after action: Machine.Action, of child: ChildNode<Machine>?, in state: Machine.State
  ) -> Effect<Machine.Action> {
    guard let child else { return machine.effect(after: action, in: state) }
    return child.effectAfter(action, state).before(machine.effect(after: action, in: state))
  }

  /// Returns the events of an action: those of its child, then that of the machine.
  func events(
    of action: Machine.Action, of child: ChildNode<Machine>?, in state: Machine.State
  ) -> [AddressedEvent<Machine.Event>] {
    let events = (child?.events(action, state) ?? []).map { passed in
      let recipients = machine.recipients(of: passed.event, in: state)
      return AddressedEvent(
        event: passed.event, recipients: passed.recipients.intersection(recipients))
    }
    guard let event = machine.event(of: action, in: state) else { return events }
    return events
      + [AddressedEvent(event: event, recipients: machine.recipients(of: event, in: state))]
  }

  func isRedaction(_ action: Machine.Action, of child: ChildNode<Machine>?) -> Bool {
    child?.isRedaction(action) == true || machine.isRedaction(action)
  }

  func inputs(for phase: LifecyclePhase, in state: Machine.State) -> [Machine.Input] {
    let inputs = children.flatMap { $0.inputsForPhase(phase, state) }
    return machine.input(for: phase).map { inputs + [$0] } ?? inputs
  }

  /// True if the machine or a child of it is aware of its viewers.
  var isPresenceAware: Bool {
    Machine.isAwareOfViewers || children.contains(where: \.isPresenceAware)
  }

  /// True if there are inputs that only the server sends, when the viewers change.
  var reservesInputs: Bool {
    Machine.reservesInputs || children.contains(where: \.isPresenceAware)
  }

  /// Returns true if an input is of a case that only the server sends, when the viewers change.
  ///
  /// The case that has the inputs of a child is judged by the child.
  func isPresenceInput(_ input: Machine.Input) -> Bool {
    receiver(of: input)?.isPresenceInput(input) ?? machine.isPresenceInput(input)
  }

  func inputs(for viewers: [Viewer], in state: Machine.State) -> [Machine.Input] {
    let inputs = children.flatMap { $0.inputsForViewers(viewers, state) }
    return machine.presenceInput(for: viewers).map { inputs + [$0] } ?? inputs
  }

  func initialEffect(in state: Machine.State) -> Effect<Machine.Action> {
    if children.isEmpty { return machine.initialEffect }
    return joined({ $0.initialEffect(state) }, machine.initialEffect)
  }

  /// True if the machine or a child of it has an initial effect.
  var beginsWithEffect: Bool {
    if case .none = machine.initialEffect.step {
      return children.contains(where: \.beginsWithEffect)
    }
    return true
  }

  /// Returns the effects of children, then that of the machine, as one.
  private func joined(
    _ part: (ChildNode<Machine>) -> Effect<Machine.Action>, _ own: Effect<Machine.Action>
  ) -> Effect<Machine.Action> {
    var effect = Effect<Machine.Action>.none
    for child in children { effect = effect.before(part(child)) }
    return effect.before(own)
  }
}

// MARK: - Restart

extension Composed {
  /// The functions of a durable machine; nil if the machine is not durable.
  var durability: Durability<Machine>? { Durability<Machine>.ofMachine }

  func restart(
    of input: Machine.Input, in state: Machine.State, after elapsed: Duration
  ) -> Effect<Machine.Action> {
    let own = durability?.restart(machine, input, state, elapsed) ?? .none
    return receiver(of: input)?.restart(input, state, elapsed).before(own) ?? own
  }

  func resumption(in state: Machine.State) -> Effect<Machine.Action> {
    joined(
      { $0.resumption(state) }, durability?.resumption(machine, state) ?? machine.initialEffect)
  }

  /// True if the resumptions of the machine and of all its children can wait for a frontend.
  var resumesForFrontends: Bool {
    (durability?.resumesForFrontends(machine) ?? false)
      && children.allSatisfy(\.resumesForFrontends)
  }

  func interruptions(in state: Machine.State) -> [Machine.Action] {
    let actions = children.flatMap { $0.interruptions(state) }
    return durability?.interruption(machine, state).map { actions + [$0] } ?? actions
  }
}
