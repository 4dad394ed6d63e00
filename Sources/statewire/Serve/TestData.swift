// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Persistence
import Sessions
import Synchronization
import Transports

/// What a server under test has in place of what is random or left over from last time.
enum TestData {
  /// Puts an amount into a ledger that has none, so that there is something to show.
  static func fill(_ database: EmbeddedDatabase) async throws {
    guard try await database.isLedgerEmpty(), let amount = DecimalNumber("1.23") else { return }
    try await database.post(amount: amount)
  }

  /// Makes ids that are the same every time: well-formed UUIDs, in lower case.
  static func ids() -> @Sendable () -> String {
    let last = Counter()
    return {
      var numbers = FixedNumbers(seed: last.next())
      let (high, low) = (numbers.next(), numbers.next())
      let digits = Array(
        (high & ~0xF000 | 0x4000).hexadecimal + (low & ~(3 << 62) | 2 << 62).hexadecimal)
      let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
      return groups.joined(separator: "-")
    }
  }

  private final class Counter: Sendable {
    private let last = Atomic<UInt64>(0)
    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
  }
}
