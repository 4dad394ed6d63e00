// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines

/// A service that answers at once what it was made to answer, for tests and demonstrations.
public final class FixedBalanceService: BalanceService {
  private let answers: [BalanceAnswer]
  private let asked = Lock(0)

  /// - Parameter answers: One for each time that it is asked; the last one goes on for ever.
  /// - Precondition: There is one.
  public init(_ answers: BalanceAnswer...) {
    precondition(!answers.isEmpty, "a service has an answer")
    self.answers = answers
  }

  public func balance() -> Effect<BalanceAnswer> {
    let number = asked.withLock { asked in
      defer { asked += 1 }
      return min(asked, answers.count - 1)
    }
    return .action(answers[number])
  }
}
