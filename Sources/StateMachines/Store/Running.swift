// SPDX-License-Identifier: Apache-2.0

/// A machine and its current state.
///
/// Not copyable, so that the machine reads the state in place. A state that is read out of a class
/// would be copied for each call, which retains and releases each object that it refers to.
struct Running<Machine: StateMachine>: ~Copyable {
  let machine: Machine
  var state: Machine.State

  borrowing func view() -> Machine.ViewState { machine.view(of: state) }

  borrowing func effect(of input: Machine.Input) -> Effect<Machine.Action> {
    machine.effect(of: input, in: state)
  }

  borrowing func refusal(of input: Machine.Input) -> InputRefusal? {
    machine.refusal(of: input, in: state)
  }

  borrowing func event(of action: Machine.Action) -> Machine.Event? {
    machine.event(of: action, in: state)
  }

  mutating func reduce(_ action: Machine.Action) { machine.reduce(&state, action) }
}
