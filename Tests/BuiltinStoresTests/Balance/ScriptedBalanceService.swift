// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import TestSupport

/// A balance service that a test controls; it responds asynchronously.
struct ScriptedBalanceService: BalanceService {
  /// The work of each call.
  var work: @Sendable (_ context: EffectContext<BalanceResult>) async -> Void

  func balance() -> Effect<BalanceResult> { .run("scripted", work) }

  /// Returns a service that responds after one second, each time with the next result. It ignores
  /// its cancellation.
  static func slow(_ results: BalanceResult...) -> ScriptedBalanceService {
    let results = Record(results)
    return ScriptedBalanceService { context in
      let result = results.next()
      try? await context.sleep(for: .seconds(1))
      await context.send(result)
    }
  }

  /// A service that never responds.
  static let silent = ScriptedBalanceService { context in
    try? await context.sleep(for: .seconds(1_000_000_000))
  }
}

extension BalanceResult {
  /// The time of responses unless a test gives another: 2021-06-02T11:01:48Z.
  static let time = Duration.seconds(1_622_631_708)

  static func response(_ balance: String, at time: Duration = time) -> BalanceResult {
    .response(BalanceResponse(balance, at: time))
  }
}

extension BalanceResponse {
  init(_ balance: String, at time: Duration = BalanceResult.time) {
    guard let balance = DecimalNumber(balance) else { fatalError("\(balance) is not a number") }
    self.init(balance: balance, date: Timestamp(sinceEpoch: time))
  }
}
