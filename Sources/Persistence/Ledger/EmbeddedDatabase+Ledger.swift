// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
internal import GRDB

// The ledger: amounts in US dollars, each with the time when it was posted. There is one in each
// database, shared by all processes that use it; entries are never changed.
extension EmbeddedDatabase {
  /// Adds an amount to the ledger, dated now.
  ///
  /// - Parameter amount: In US dollars; negative takes away.
  /// - Throws: One sentence that says why not; nothing has been written then.
  public func post(amount: DecimalNumber) async throws(PersistenceError) {
    let calendar = calendar
    try await sharedPool.use { database in
      try await database.pool.writeWithoutTransaction { [files = database.files] db in
        try db.write(checking: files) {
          let now = Timestamp(sinceEpoch: calendar.sinceEpoch)
          try LedgerTransaction(db: db).post(amount, at: now)
        }
      }
    }
  }

  /// The exact sum of all amounts, and the time of the last one; 0 and the time now without any.
  public func ledgerBalance() async throws(PersistenceError) -> BalanceResponse {
    let balance = try await sharedPool.use { database in
      try await database.read { db in try LedgerTransaction(db: db).balance() }
    }
    return balance
      ?? BalanceResponse(balance: .zero, date: Timestamp(sinceEpoch: calendar.sinceEpoch))
  }

  /// Whether nothing has been posted yet.
  public func isLedgerEmpty() async throws(PersistenceError) -> Bool {
    try await sharedPool.use { database in
      try await database.read { db in try LedgerTransaction(db: db).balance() == nil }
    }
  }

  /// A service whose balance is the ledger's.
  public func balanceService() -> some BalanceService { LedgerBalanceService(database: self) }
}

/// The ledger's balance, as stores ask for it.
///
/// - Failure: is answered with `failed`, and the database is told why.
private struct LedgerBalanceService: BalanceService {
  let database: EmbeddedDatabase

  func balance() -> Effect<BalanceAnswer> {
    .run("balance") { [database] context in
      do throws(PersistenceError) {
        await context.send(.response(try await database.ledgerBalance()))
      } catch {
        guard error.code != .cancelled else { return }
        database.tell(error, "The balance could not be read")
        await context.send(.failed)
      }
    }
  }
}
