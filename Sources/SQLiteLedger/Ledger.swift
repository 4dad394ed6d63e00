// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import GRDB
public import SQLiteFiles

/// The ledger: amounts in US dollars, each with the time when it was posted.
///
/// There is one in each database file, shared by all processes that use it; entries are never changed.
public struct Ledger: Sendable {
  let file: SharedDatabase
  private let calendar: any StoreClock

  /// The ledger in a file, which is opened when it is first needed.
  ///
  /// - Parameters:
  ///   - file: One that has `schema`.
  ///   - calendar: The time that entries are dated with.
  public init(in file: SharedDatabase, calendar: any StoreClock = SystemClock()) {
    self.file = file
    self.calendar = calendar
  }

  /// Adds an amount, dated now.
  ///
  /// - Parameter amount: In US dollars; negative takes away.
  /// - Throws: One sentence that says why not; nothing has been written then.
  public func post(amount: DecimalNumber) async throws(StorageError) {
    let calendar = calendar
    try await file.use { database in
      try await database.write { db in
        let now = Timestamp(sinceEpoch: calendar.sinceEpoch)
        try LedgerTransaction(db: db).post(amount, at: now)
      }
    }
  }

  /// The exact sum of all amounts, and the time of the last one; 0 and the time now without any.
  public func readBalance() async throws(StorageError) -> BalanceResponse {
    try await lastBalance()
      ?? BalanceResponse(balance: .zero, date: Timestamp(sinceEpoch: calendar.sinceEpoch))
  }

  /// True if nothing has been posted yet.
  public func isEmpty() async throws(StorageError) -> Bool { try await lastBalance() == nil }

  private func lastBalance() async throws(StorageError) -> BalanceResponse? {
    try await file.use { database in
      try await database.read { db in try LedgerTransaction(db: db).balance() }
    }
  }
}

extension Ledger {
  /// Returns a function that posts an entry to a ledger that has none; for `SharedDatabase`.
  public static func posting(
    _ entry: BalanceResponse
  ) -> @Sendable (Database) throws -> Void {
    { db in
      try db.inTransaction(.immediate) {
        let ledger = LedgerTransaction(db: db)
        if try ledger.balance() == nil { try ledger.post(entry.balance, at: entry.date) }
        return .commit
      }
    }
  }
}

extension Ledger: BalanceService {
  /// The balance, for a store.
  ///
  /// - Failure: the response is `failed`, and the operator is told why.
  public func balance() -> Effect<BalanceResult> {
    .run("balance") { context in
      do throws(StorageError) {
        await context.send(.response(try await readBalance()))
      } catch {
        guard error.code != .cancelled else { return }
        file.report(error, "The balance could not be read")
        await context.send(.failed)
      }
    }
  }
}
