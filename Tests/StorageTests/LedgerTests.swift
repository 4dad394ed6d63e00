// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Foundation
import PostgresStorage
import SQLiteFiles
import SQLiteLedger
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

/// The tests that each ledger passes.
@Suite("Ledger that processes share", .serialized, .timeLimit(.minutes(15)))
struct LedgerTests {
  /// 2021-06-02T11:01:48Z.
  private static let start = Duration.seconds(1_622_631_708)

  private func number(_ text: String) -> DecimalNumber {
    guard let number = DecimalNumber(text) else { fatalError("\(text) is not a number") }
    return number
  }

  private func response(_ text: String, after seconds: Int) -> BalanceResponse {
    BalanceResponse(
      balance: number(text), date: Timestamp(sinceEpoch: Self.start + .seconds(seconds)))
  }

  @Test(
    "without an entry, the balance is 0, with the current time",
    arguments: Implementation.shared)
  func empty(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let clock = ManualClock(start: Self.start)
      let (ledger, close) = place.ledger(clock)
      let first = try await ledger.readBalance()
      #expect(first == response("0", after: 0))
      clock.advance(to: clock.now.advanced(by: .milliseconds(2900)))
      let second = try await ledger.readBalance()
      #expect(second == response("0", after: 2))
      await close()
    }
  }

  @Test(
    "the balance is the exact sum of all entries, with the time of the last entry",
    arguments: Implementation.shared)
  func sums(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let clock = ManualClock(start: Self.start)
      let (ledger, close) = place.ledger(clock)
      let steps = [
        ("0.1", "0.1"), ("0.2", "0.3"), ("1000000000000000", "1000000000000000.3"),
        ("0.01", "1000000000000000.31"), ("-1000000000000000.31", "0"), ("-5.25", "-5.25"),
        ("0", "-5.25"), ("1e-30", "-5.249999999999999999999999999999"),
      ]
      for (seconds, (amount, sum)) in zip(1..., steps) {
        clock.advance(to: clock.now.advanced(by: .seconds(1)))
        try await ledger.post(amount: number(amount))
        #expect(try await ledger.readBalance() == response(sum, after: seconds))
      }
      // The time is that of the entry, not the current time.
      clock.advance(to: clock.now.advanced(by: .seconds(1000)))
      #expect(try await ledger.readBalance().date == response("0", after: steps.count).date)
      await close()
      let (later, closeLater) = place.ledger(clock)
      #expect(try await later.readBalance() == response(steps[7].1, after: steps.count))
      await closeLater()
    }
  }

  @Test(
    "no entry is lost when several processes post at the same time",
    arguments: Implementation.shared)
  func sharing(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let ledgers = (1...4).map { _ in place.ledger() }
      let cent = number("0.01")
      try await withThrowingTaskGroup { group in
        for (ledger, _) in ledgers {
          group.addTask { for _ in 1...50 { try await ledger.post(amount: cent) } }
        }
        try await group.waitForAll()
      }
      for (ledger, close) in ledgers {
        #expect(try await ledger.readBalance().balance == number("2"))
        await close()
      }
    }
  }

  @Test(
    "an entry whose sum has too many digits is refused, and nothing changes",
    arguments: Implementation.shared)
  func limit(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let clock = ManualClock(start: Self.start)
      let (ledger, close) = place.ledger(clock)
      try await ledger.post(amount: number("1e199"))
      do {
        try await ledger.post(amount: number("0.01"))
        Issue.record("the limit is not checked")
      } catch {
        #expect("\(error)".contains("he balance would have more than 200 digits"))
      }
      #expect(try await ledger.readBalance() == response("1e199", after: 0))
      try await ledger.post(amount: number("-1e199"))
      #expect(try await ledger.readBalance().balance == .zero)
      await close()
    }
  }

  @Test(
    "a store shows the balance of the ledger, also after another process has posted",
    arguments: Implementation.shared)
  func service(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let clock = ManualClock(start: Self.start)
      let ((here, close), (there, closeThere)) = (place.ledger(clock), place.ledger(clock))
      let store = try await Host(BalanceStore(service: here))
      try await store.send(.viewDidAppear)
      #expect(await store.state?.lastResponse == response("0", after: 0))
      try await there.post(amount: number("-5.25"))
      try await store.send(.refreshButtonWasTapped)
      #expect(await store.state?.lastResponse == response("-5.25", after: 0))
      #expect(await store.state?.isRefreshing == false)
      await store.close()
      await close()
      await closeThere()
    }
  }

  @Test(
    "a refresh that is cancelled ends at any point, and is not a failure",
    arguments: Implementation.shared)
  func cancellation(implementation: Implementation) async throws {
    try await implementation.withPlace { place in
      let complaints = RecordedFailures()
      let (ledger, close) = place.ledger(complaints: complaints)
      try await ledger.post(amount: number("1.5"))
      let store = try await Host(BalanceStore(service: ledger))
      var numbers = FixedNumbers(seed: 3)
      for _ in 1...100 {
        let inputID = try await store.begin(.viewDidAppear)
        for _ in 0..<Int.random(in: 0..<40, using: &numbers) { await Task.yield() }
        await store.cancel(inputID)
        #expect(await store.state?.isRefreshing == false)
        #expect(await store.state?.didFail == false)
      }
      try await store.send(.viewDidAppear)
      #expect(await store.state?.lastResponse?.balance == number("1.5"))
      #expect(complaints.all.isEmpty)
      await store.close()
      await close()
    }
  }
}

/// A ledger to which amounts are posted.
private protocol OpenLedger: BalanceService {
  func post(amount: DecimalNumber) async throws
  func readBalance() async throws -> BalanceResponse
}

extension Ledger: OpenLedger {}
extension PostgresLedger: OpenLedger {}

extension Place {
  /// Opens the ledger, as one process.
  fileprivate func ledger(
    _ calendar: any StoreClock = SystemClock(), complaints: RecordedFailures = RecordedFailures()
  ) -> (ledger: any OpenLedger, close: @Sendable () async -> Void) {
    switch self {
    case .memory: fatalError("no ledger is in memory")
    case .folder(let folder):
      let file = SharedDatabase(folder, Ledger.schema, complaints: complaints)
      return (Ledger(in: file, calendar: calendar), { await file.close() })
    case .database:
      let storage = postgres(calendar: calendar, complaints: complaints)
      return (storage.ledger, { storage.close() })
    }
  }
}
