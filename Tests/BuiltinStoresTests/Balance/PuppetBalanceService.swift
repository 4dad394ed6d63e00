// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import TestSupport

/// A service that answers what a test says, later.
struct PuppetBalanceService: BalanceService {
  /// What one call does.
  var answer: @Sendable (_ context: EffectContext<BalanceResult>) async -> Void

  func balance() -> Effect<BalanceResult> { .run("puppet", answer) }

  /// One that answers a second later, each time with the next of these; as deaf to cancellation as
  /// code that is in the middle of something.
  static func slow(_ answers: BalanceResult...) -> PuppetBalanceService {
    let answers = Record(answers)
    return PuppetBalanceService { context in
      let answer = answers.next()
      try? await context.sleep(for: .seconds(1))
      await context.send(answer)
    }
  }

  /// One that never answers.
  static let silent = PuppetBalanceService { context in
    try? await context.sleep(for: .seconds(1_000_000_000))
  }
}

extension BalanceResult {
  /// The article's time: 2021-06-02T11:01:48Z.
  static let time = Duration.seconds(1_622_631_708)

  static func response(_ balance: String, at time: Duration = time) -> BalanceResult {
    .response(BalanceResponse(balance, at: time))
  }
}

extension BalanceResponse {
  init(_ balance: String, at time: Duration = BalanceResult.time) {
    guard let balance = DecimalNumber(balance) else { fatalError("\(balance) is no number") }
    self.init(balance: balance, date: Timestamp(sinceEpoch: time))
  }
}
