// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// A source of the account balance.
public protocol BalanceService: Sendable {
  /// Returns an effect that requests the balance.
  ///
  /// The effect gives exactly one result, or never ends. Its cancellation aborts the request.
  func balance() -> Effect<BalanceResult>
}

/// The result of a balance request.
public enum BalanceResult: Equatable, Sendable {
  /// The balance, with the time of the response.
  case response(BalanceResponse)
  /// The request has failed.
  case failed
}
