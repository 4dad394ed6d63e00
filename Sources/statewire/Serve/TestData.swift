// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import SQLiteLedger
import SQLiteTodoDatabase
import Sessions
import Synchronization
import Transports

/// What a server under test has in place of what is random or left over from last time.
enum TestData {
  /// Puts an amount into a ledger that has none, so that there is something to show.
  static func fill(_ ledger: Ledger) async throws {
    guard try await ledger.isEmpty(), let amount = DecimalNumber("1.23") else { return }
    try await ledger.post(amount: amount)
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
