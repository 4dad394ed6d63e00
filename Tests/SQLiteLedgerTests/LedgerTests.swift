// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Foundation
import GRDB
import SQLiteFiles
import Sessions
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteLedger

@Suite("Ledger")
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

  @Test("the balance is the exact sum of all entries, with the time of the last entry")
  func sums() async throws {
    try await withLedger { ledger, clock in
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
      // The stored entries are equal to the posted entries.
      let amounts = try await ledger.postedAmounts()
      #expect(amounts == steps.map { number($0.0).description })
    }
  }

  @Test("entries persist after the process has ended")
  func reopening() async throws {
    try await withFolder { folder in
      for count in 1...3 {
        let database = OpenLedger(folder)
        try await database.ledger.post(amount: number("0.1"))
        #expect(try await database.ledger.readBalance().balance == number("0.\(count)"))
        await database.close()
      }
    }
  }

  @Test(
    "a damaged ledger causes an error that does not contain its data",
    arguments: ["NaN", "", "1,5", "12x"])
  func damage(_ text: String) async throws {
    try await withFolder { folder in
      let complaints = RecordedFailures()
      let database = OpenLedger(folder, complaints: complaints)
      try await database.ledger.post(amount: number("7.125"))
      try await database.file.execute("UPDATE ledgerEntry SET sum = CAST('\(text)' AS BLOB)")
      let reading = await failure { () throws(StorageError) in
        _ = try await database.ledger.readBalance()
      }
      let posting = await failure { () throws(StorageError) in
        try await database.ledger.post(amount: number("1"))
      }
      for error in [reading, posting] { #expect(error?.code == .notADatabase) }
      let store = try await Host(BalanceStore(service: database.ledger))
      try await store.send(.viewDidAppear)
      #expect(await store.state?.didFail == true)
      #expect(complaints.all.count == 1)
      #expect(complaints.all.first?.hasPrefix("The balance could not be read: ") == true)
      #expect(complaints.all.allSatisfy { !$0.contains("7.125") })
      await store.close()
      await database.close()
    }
  }

  // MARK: As a service

  @Test("when the database fails, the service fails, and the log states the reason")
  func failingService() async throws {
    try await withFolder { folder in
      let complaints = RecordedFailures()
      let database = OpenLedger(folder, complaints: complaints)
      await database.close()
      let store = try await Host(BalanceStore(service: database.ledger))
      try await store.send(.viewDidAppear)
      #expect(await store.state?.didFail == true)
      #expect(await store.state?.isRefreshing == false)
      #expect(
        complaints.all == ["The balance could not be read: The database has been closed."])
      await store.close()
    }
  }

  /// Returns the error that `body` throws.
  private func failure(
    _ body: () async throws(StorageError) -> Void
  ) async -> StorageError? {
    do throws(StorageError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Calls `body` with a ledger and its clock.
  private func withLedger(
    _ body: (Ledger, ManualClock) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let clock = ManualClock(start: Self.start)
      let database = OpenLedger(folder, calendar: clock)
      try await body(database.ledger, clock)
      await database.close()
    }
  }
}

/// A ledger in a file of its own.
private struct OpenLedger {
  let file: SharedDatabase
  let ledger: Ledger

  init(
    _ folder: String, calendar: any StoreClock = SystemClock(),
    complaints: RecordedFailures = RecordedFailures()
  ) {
    file = SharedDatabase(folder, Ledger.schema, complaints: complaints)
    ledger = Ledger(in: file, calendar: calendar)
  }

  func close() async { await file.close() }
}

extension Ledger {
  /// The stored amounts.
  fileprivate func postedAmounts() async throws -> [String] {
    try await file.write { db in
      try Data.fetchAll(db, sql: "SELECT amount FROM ledgerEntry ORDER BY id")
        .map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
