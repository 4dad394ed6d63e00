// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// Knows a balance.
public protocol BalanceService: Sendable {
  /// Asks for the balance.
  ///
  /// Answers exactly once, or never; cancelling it aborts what it waits for.
  func balance() -> Effect<BalanceAnswer>
}

/// What a balance service says.
public enum BalanceAnswer: Equatable, Sendable {
  case response(BalanceResponse)
  case failed
}
