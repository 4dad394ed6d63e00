// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines

/// A service that immediately gives configured results, for tests and demonstrations.
public final class FixedBalanceService: BalanceService {
  private let results: [BalanceResult]
  private let asked = Lock(0)

  /// Creates a service.
  ///
  /// - Parameter results: The results of the requests, in order; the last one is repeated.
  /// - Precondition: `results` is not empty.
  public init(_ results: BalanceResult...) {
    precondition(!results.isEmpty, "a fixed balance service needs at least one result")
    self.results = results
  }

  /// Returns the next result.
  public func balance() -> Effect<BalanceResult> {
    let number = asked.withLock { asked in
      defer { asked += 1 }
      return min(asked, results.count - 1)
    }
    return .action(results[number])
  }
}
