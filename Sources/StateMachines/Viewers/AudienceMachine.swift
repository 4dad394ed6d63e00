// SPDX-License-Identifier: Apache-2.0

/// A state machine whose viewers see different views of one state: hidden cards, or prices that
/// depend on the customer.
///
/// Viewers of one audience see the same view, which is made and encoded once for all of them. A
/// machine that has the functions without the conformance has audiences too; with it, the compiler
/// checks that they are there.
///
/// ```swift
/// extension Poker: AudienceMachine {
///   func audience(of viewer: Viewer) -> String { viewer.identity ?? "" }
///   func view(of state: State, for player: String) -> Table { state.table(showing: player) }
/// }
/// ```
public protocol AudienceMachine: StateMachine {
  /// Returns the audience of a viewer.
  func audience(of viewer: Viewer) -> Audience

  /// Returns the view of a state that the viewers of an audience receive. No client
  /// receives `view(of:)`.
  func view(of state: State, for audience: Audience) -> ViewState
}

extension AudienceMachine where Audience == Everyone {
  /// Makes a machine without the function an error of the compiler.
  @available(*, unavailable, message: "implement audience(of:)")
  public func audience(of viewer: Viewer) -> Everyone { Everyone() }
  /// Makes a machine without the function an error of the compiler.
  @available(*, unavailable, message: "implement view(of:for:)")
  public func view(of state: State, for audience: Everyone) -> ViewState { view(of: state) }
}

/// A state machine that gets an input when other viewers subscribe or leave.
///
/// The server alone sends this input: a client that sends the same case of `Input` is refused.
public protocol PresenceAwareMachine: StateMachine where ViewersInput == Input? {
  /// Returns the input to take when the viewers that have subscribed to the store have changed; nil
  /// for none.
  ///
  /// - Parameter viewers: The viewers, in the order in which they subscribed. A frontend with two
  ///   connections is there twice.
  func input(for viewers: [Viewer]) -> Input?
}
