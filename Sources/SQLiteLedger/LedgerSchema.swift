// SPDX-License-Identifier: Apache-2.0

public import SQLiteFiles

extension Ledger {
  /// The tables of the ledger.
  public static let schema = Schema([
    Schema.Migration(
      "ledger",
      """
      -- Amounts in the order in which they were posted; never changed, never removed.
      CREATE TABLE ledgerEntry (
        id INTEGER PRIMARY KEY,
        -- Decimal numbers, as text: SQLite's own are binary and not exact.
        amount BLOB NOT NULL,
        -- Of all amounts up to this one.
        sum BLOB NOT NULL,
        -- Seconds since 1970-01-01T00:00:00Z.
        date INTEGER NOT NULL
      ) STRICT;
      """)
  ])
}
