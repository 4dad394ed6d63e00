// SPDX-License-Identifier: Apache-2.0

/// A state machine whose viewers see different views of one state: hidden cards, or prices that
/// depend on the customer.
///
/// Viewers of one audience see the same view, which is made and encoded once for all of them.
///
/// ```swift
/// extension Poker: AudienceMachine {
///   func audience(of viewer: Viewer) -> String { viewer.identity ?? "" }
///   func view(of state: State, for player: String) -> Table { state.table(showing: player) }
/// }
/// ```
public protocol AudienceMachine: StateMachine {
  /// The viewers who see the same view.
  associatedtype Audience: Hashable & Sendable

  /// Returns the audience of a viewer.
  func audience(of viewer: Viewer) -> Audience

  /// Returns the view of a state that the viewers of an audience receive. No client
  /// receives `view(of:)`.
  func view(of state: State, for audience: Audience) -> ViewState
}

/// A state machine that gets an input when other viewers subscribe or leave.
public protocol PresenceAwareMachine: StateMachine {
  /// Returns the input to take when the viewers that have subscribed to the store have changed; nil
  /// for none.
  ///
  /// - Parameter viewers: The viewers, in the order in which they subscribed. A frontend with two
  ///   connections is there twice.
  func input(for viewers: [Viewer]) -> Input?
}
