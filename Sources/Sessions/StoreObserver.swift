// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// Observes stores of all kinds: makes a hook for each store that is opened.
///
/// ```swift
/// struct Counting: StoreObserver {
///   func hook<Machine>(for machine: Machine, store: String) -> Hook<Machine>? {
///     Hook(receiveRequest: { operation, _ in count(operation.name) })
///   }
/// }
/// ```
public protocol StoreObserver: Sendable {
  /// The hook of a new store; nil where there is nothing to observe.
  ///
  /// - Parameters:
  ///   - machine: What the store runs.
  ///   - store: The store's name in its session.
  func hook<Machine: StateMachine>(for machine: Machine, store: String) -> Hook<Machine>?
}
