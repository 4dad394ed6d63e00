// SPDX-License-Identifier: Apache-2.0

/// A state machine whose effects and refusals depend on the participant that sends the input.
///
/// ```swift
/// extension Auction: ViewerAwareMachine {
///   func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
///     switch input {
///     case .bid(let amount): .action(.bid(amount, by: viewer.identity ?? "anonymous"))
///     }
///   }
/// }
/// ```
///
/// A machine that conforms implements `effect(of:in:from:)` in place of `effect(of:in:)`. (A machine
/// that has the function without the conformance implements both; this one is called.) Of a durable machine the state should contain what a restart needs to know of the viewer: after a
/// restart no viewer is known.
public protocol ViewerAwareMachine: StateMachine {
  /// Returns the effect of an input in the current state.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - state: The current state.
  ///   - viewer: The participant that sends it; `Viewer.server` for an input of the program or of
  ///     the lifecycle.
  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action>

  /// Returns the reason to refuse an input that depends on the state and on its sender. The default
  /// is `refusal(of:in:)`.
  func refusal(of input: Input, in state: State, from viewer: Viewer) -> InputRefusal?
}

extension ViewerAwareMachine {
  /// Returns the effect of an input of the program.
  public func effect(of input: Input, in state: State) -> Effect<Action> {
    effect(of: input, in: state, from: .server)
  }

  /// Makes a machine without the function an error of the compiler, because the default of
  /// `StateMachine` would call `effect(of:in:)`, and that would call it.
  @available(*, unavailable, message: "implement effect(of:in:from:)")
  public func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    .none
  }
}
