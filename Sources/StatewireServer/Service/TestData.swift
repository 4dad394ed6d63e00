// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import Sessions
internal import StatewireProtocol
internal import StoredTodoLists
internal import Synchronization
internal import Transports

/// The deterministic data of a server under test.
enum TestData {
  /// The first entry of an empty ledger. Its date does not depend on the time of the first read.
  static var firstEntry: BalanceResponse? {
    DecimalNumber("1.23").map {
      BalanceResponse(balance: $0, date: Timestamp(sinceEpoch: TestMode.start))
    }
  }

  /// Returns a generator of ids that are the same in each run: UUIDs in lower case.
  static func ids() -> @Sendable () -> String {
    let last = Counter()
    return {
      var numbers = FixedNumbers(seed: last.next())
      return RandomUUID.text(of: &numbers)
    }
  }

  private final class Counter: Sendable {
    private let last = Atomic<UInt64>(0)
    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
  }
}
