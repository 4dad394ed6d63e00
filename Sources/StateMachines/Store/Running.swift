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

  borrowing func effect(of input: Machine.Input, from viewer: Viewer) -> Effect<Machine.Action> {
    composed.effect(of: input, in: state, from: viewer)
  }

  borrowing func effect(after action: Machine.Action) -> Effect<Machine.Action> {
    composed.effect(after: action, in: state)
  }

  borrowing func refusal(of input: Machine.Input, from viewer: Viewer) -> InputRefusal? {
    composed.refusal(of: input, in: state, from: viewer)
  }

  borrowing func events(of action: Machine.Action) -> [Machine.Event] {
    composed.events(of: action, in: state)
  }

  borrowing func isRedaction(_ action: Machine.Action) -> Bool { composed.isRedaction(action) }

  /// Folds an action; true if it is an action of a child.
  mutating func reduce(_ action: Machine.Action) -> Bool { composed.reduce(&state, action) }

  /// Returns the change of the children that are present; see `ChildPresence.update`.
  borrowing func change(
    of presence: ChildPresence<Machine>, isOfChild: Bool
  ) -> ChildPresence<Machine>.Change? {
    presence.update(composed.children, in: state, isOfChild: isOfChild)
  }
}
