// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// The operations on the ledger within one transaction.
///
/// Each entry stores the sum of all amounts up to and including its own, so that reading the
/// balance costs the same for any number of entries. The sums are computed here and not by SQLite,
/// whose numbers are binary.
struct LedgerTransaction {
  let db: GRDB.Database

  /// Returns the sum of all entries and the time of the last one; nil if there are none.
  func balance() throws -> BalanceResponse? {
    let row = try Row.fetchOne(db.cachedStatement(sql: LedgerStatement.last.rawValue))
    guard let row else { return nil }
    guard let sum = try row.text(0).flatMap({ DecimalNumber($0) }) else {
      // This program never writes such a row.
      throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }
    return BalanceResponse(balance: sum, date: Timestamp(secondsSinceEpoch: row[1]))
  }

  /// Adds an entry.
  ///
  /// - Throws: `failed` if the sum would have more than `DecimalNumber.maximumDigits` digits.
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

/// The SQL statements of the ledger.
///
/// Each is prepared once per connection. The cost of none grows with the ledger.
enum LedgerStatement: String, CaseIterable {
  case last = "SELECT sum, date FROM ledgerEntry ORDER BY id DESC LIMIT 1"
  case insert = "INSERT INTO ledgerEntry (amount, sum, date) VALUES (?, ?, ?)"
}
