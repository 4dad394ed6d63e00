// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import GRDB
import Testing

@testable import SQLiteFiles
@testable import SQLiteLedger

@Suite("A ledger of 100,000 entries")
struct LedgerStatementTests {
  @Test("the balance is read from the last entry alone, and a new entry adds one row")
  func plans() throws {
    let database = try DatabaseQueue()
    try DatabaseMigrator([Ledger.schema]).migrate(database)
    try database.write { db in
      try db.execute(
        sql: """
          WITH RECURSIVE number (n) AS
            (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000)
          INSERT INTO ledgerEntry (amount, sum, date)
          SELECT CAST('1' AS BLOB), CAST(n AS BLOB), n FROM number;
          ANALYZE;
          """)
      let transaction = LedgerTransaction(db: db)
      #expect(try transaction.balance()?.balance == DecimalNumber("100000"))
      let before = db.totalChangesCount
      try transaction.post(try #require(DecimalNumber("1")), at: Timestamp(secondsSinceEpoch: 0))
      #expect(db.totalChangesCount - before == 1)
      #expect(try transaction.balance()?.balance == DecimalNumber("100001"))
      // By descending key and without sorting, so that only the first row is read.
      let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(LedgerStatement.last.rawValue)")
        .map { $0["detail"] as String }
      #expect(plan == ["SCAN ledgerEntry"])
    }
  }
}
