// SPDX-License-Identifier: Apache-2.0

/// A machine with its children and its current state.
///
/// Not copyable, so that the machine reads the state in place. A state that is read out of a class
/// would be copied for each call, which retains and releases each object that it refers to.
struct Running<Machine: StateMachine>: ~Copyable {
  let composed: Composed<Machine>
  var state: Machine.State

  var machine: Machine { composed.machine }

  borrowing func view() -> Machine.ViewState { composed.machine.view(of: state) }

  var hiddenBytes: Int { composed.machine.hiddenBytes(of: state) }

  borrowing func effect(of input: Machine.Input, from viewer: Viewer) -> Effect<Machine.Action> {
    composed.effect(of: input, in: state, from: viewer)
  }

  borrowing func effect(
    after action: Machine.Action, of child: ChildNode<Machine>?
  ) -> Effect<Machine.Action> {
    composed.effect(after: action, of: child, in: state)
  }

  borrowing func refusal(of input: Machine.Input, from viewer: Viewer) -> InputRefusal? {
    composed.refusal(of: input, in: state, from: viewer)
  }

  borrowing func events(
    of action: Machine.Action, of child: ChildNode<Machine>?
  ) -> [AddressedEvent<Machine.Event>] {
    composed.events(of: action, of: child, in: state)
  }

  borrowing func isRedaction(_ action: Machine.Action, of child: ChildNode<Machine>?) -> Bool {
    composed.isRedaction(action, of: child)
  }

  /// Folds an action; returns the child to which it belongs.
  mutating func reduce(_ action: Machine.Action) -> ChildNode<Machine>? {
    let child = composed.owner(of: action)
    composed.reduce(&state, action, of: child)
    return child
  }

  /// Returns the change of the children that are present; see `ChildPresence.update`.
  borrowing func change(
    of presence: ChildPresence<Machine>, isOfChild: Bool
  ) -> ChildPresence<Machine>.Change? {
    presence.update(composed.children, in: state, isOfChild: isOfChild)
  }
}
