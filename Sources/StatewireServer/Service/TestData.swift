// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import SQLiteTodoDatabase
internal import Sessions
internal import StatewireProtocol
internal import Synchronization
internal import Transports

/// What a server under test has in place of what is random or left over from last time.
enum TestData {
  /// The first entry of a ledger that has none, so that there is something to show. Its date does not depend on when
  /// the ledger is first looked at.
  static var firstEntry: BalanceResponse? {
    DecimalNumber("1.23").map {
      BalanceResponse(balance: $0, date: Timestamp(sinceEpoch: TestMode.start))
    }
  }

  /// Makes ids that are the same every time: well-formed UUIDs, in lower case.
  static func ids() -> @Sendable () -> String {
    let last = Counter()
    return {
      var numbers = FixedNumbers(seed: last.next())
      return TodoDatabase.randomID(of: &numbers)
    }
  }

  private final class Counter: Sendable {
    private let last = Atomic<UInt64>(0)
    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
  }
}
