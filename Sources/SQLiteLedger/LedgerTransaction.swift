// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// The ledger within one transaction.
///
/// Each entry has the sum of all up to it beside it, so that the balance costs the same however
/// many there are. Sums are made here and not by SQLite, whose numbers are binary.
struct LedgerTransaction {
  let db: GRDB.Database

  /// The sum of all entries and the time of the last one; nil if there are none.
  func balance() throws -> BalanceResponse? {
    let row = try Row.fetchOne(db.cachedStatement(sql: LedgerStatement.last.rawValue))
    guard let row else { return nil }
    guard let sum = try row.text(0).flatMap({ DecimalNumber($0) }) else {
      // Nothing that this program has written.
      throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }
    return BalanceResponse(balance: sum, date: Timestamp(secondsSinceEpoch: row[1]))
  }

  /// Adds an entry.
  ///
  /// - Throws: `failed` if the sum could not be written any more.
  func post(_ amount: DecimalNumber, at date: Timestamp) throws {
    let sum = try (balance()?.balance ?? .zero) + amount
    guard sum.digitCount <= DecimalNumber.maximumDigits else {
      throw StorageError(
        .failed, "The balance would have more than \(DecimalNumber.maximumDigits) digits.")
    }
    try db.cachedStatement(sql: LedgerStatement.insert.rawValue)
      .execute(
        arguments: [amount.description.blob, sum.description.blob, date.secondsSinceEpoch])
  }
}

/// The SQL of the ledger; each is prepared once per connection, and none grows slower with it.
enum LedgerStatement: String, CaseIterable {
  case last = "SELECT sum, date FROM ledgerEntry ORDER BY id DESC LIMIT 1"
  case insert = "INSERT INTO ledgerEntry (amount, sum, date) VALUES (?, ?, ?)"
}
