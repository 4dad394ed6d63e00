// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import GRDB
public import SQLiteFiles

/// A ledger of amounts in US dollars, each with the time when it was posted.
///
/// A database file has one ledger, which all processes that use the file share. Entries never
/// change.
public struct Ledger: Sendable {
  let file: SharedDatabase
  private let calendar: any StoreClock

  /// Creates the ledger of a file, which the first use opens.
  ///
  /// - Parameters:
  ///   - file: A file that has `schema`.
  ///   - calendar: The clock that dates new entries.
  public init(in file: SharedDatabase, calendar: any StoreClock = SystemClock()) {
    self.file = file
    self.calendar = calendar
  }

  /// Adds an entry with the current time.
  ///
  /// - Complexity: independent of the number of entries.
  /// - Parameter amount: In US dollars; a negative amount reduces the balance.
  /// - Throws: The reason, as one sentence; nothing has been written in that case.
  public func post(amount: DecimalNumber) async throws(StorageError) {
    let calendar = calendar
    try await file.use { database in
      try await database.write { db in
        let now = Timestamp(sinceEpoch: calendar.sinceEpoch)
        try LedgerTransaction(db: db).post(amount, at: now)
      }
    }
  }

  /// Returns the exact sum of all amounts and the time of the last entry; 0 and the current time if
  /// there are no entries.
  ///
  /// - Complexity: independent of the number of entries.
  /// - Throws: The reason, as one sentence.
  public func readBalance() async throws(StorageError) -> BalanceResponse {
    try await lastBalance()
      ?? BalanceResponse(balance: .zero, date: Timestamp(sinceEpoch: calendar.sinceEpoch))
  }

  /// Returns true if the ledger has no entries.
  ///
  /// - Throws: The reason, as one sentence.
  public func isEmpty() async throws(StorageError) -> Bool { try await lastBalance() == nil }

  private func lastBalance() async throws(StorageError) -> BalanceResponse? {
    try await file.use { database in
      try await database.read { db in try LedgerTransaction(db: db).balance() }
    }
  }
}

extension Ledger {
  /// Returns a function that posts an entry to a ledger without entries; for the `prepare`
  /// parameter of `SharedDatabase`.
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
  /// Returns an effect that reads the balance, for a store.
  ///
  /// On failure the effect sends `failed`, and the reason is reported to the operator.
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
