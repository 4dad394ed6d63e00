// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// An observer of stores of all kinds, which creates a hook for each store that is opened.
///
/// ```swift
/// struct Counting: StoreObserver {
///   func hook<Machine>(for machine: Machine, store: ObservedStore) -> Hook<Machine>? {
///     Hook(receiveRequest: { operation, _ in count(operation.name) })
///   }
/// }
/// ```
public protocol StoreObserver: Sendable {
  /// Returns the hook for a new store; nil for none.
  ///
  /// - Parameters:
  ///   - machine: The machine of the store.
  ///   - store: The store: its name, its kind and its session.
  func hook<Machine: StateMachine>(for machine: Machine, store: ObservedStore) -> Hook<Machine>?
}
