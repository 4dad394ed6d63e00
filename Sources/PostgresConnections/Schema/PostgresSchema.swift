// SPDX-License-Identifier: Apache-2.0

/// The tables and functions in the schema `statewire`, as a list of migrations.
///
/// A step that has shipped is never edited; a change is a new step at the end. A step names the
/// earliest version of the program that can still use the database after it (`oldest`), so that old
/// and new nodes run side by side where that is possible, and otherwise the old ones refuse to start.
package enum PostgresSchema {
  /// The codes of errors that the functions raise.
  package static let leaseIsOver = "SW001"
  package static let outOfOrder = "SW002"
  package static let ownedElsewhere = "SW003"

  /// A migration to the next version.
  package struct Step: Sendable {
    /// The version that a program must know at least to use the database after this step.
    package let oldest: Int
    /// Several statements, separated by lines with `--` only.
    package let sql: String

    package init(oldest: Int, sql: String) { (self.oldest, self.sql) = (oldest, sql) }
  }

  package static let steps = sessions + [storage, repeatedEnd, orderedWrites]

  private static let state = PostgresStatement(
    "schema state",
    """
    SELECT to_regclass('statewire.version') IS NOT NULL
    """)
  private static let version = PostgresStatement(
    "schema version", "SELECT version, oldest FROM statewire.version")

  /// Creates or migrates the tables. Nodes that start at the same time wait for one another.
  ///
  /// - Throws: `PostgresError` if a newer version of the program has migrated the database, and this
  ///   one cannot use it any more.
  package static func migrate(
    _ connection: PostgresConnection, steps: [Step] = steps, within timeout: Duration
  ) throws(PostgresError) {
    // The lock is of the transaction, so that it does not outlive a lost connection. Each try reads
    // the version without the lock first, because most starts find the newest version.
    for _ in 0..<10 {
      let found = try read(connection, timeout)
      if let found, found.version >= steps.count {
        guard found.oldest <= steps.count else {
          throw PostgresError(
            .refused,
            """
            a newer version of this program has migrated the database to version \(found.version), \
            which needs a program that knows version \(found.oldest) or later; this one knows \
            \(steps.count): upgrade this node
            """)
        }
        return
      }
      try migrate(connection, from: found?.version ?? 0, steps, timeout)
    }
    throw PostgresError(.refused, "the tables of the database cannot be migrated")
  }

  private static func read(
    _ connection: PostgresConnection, _ timeout: Duration
  ) throws(PostgresError) -> (version: Int, oldest: Int)? {
    let exists = try connection.execute(PostgresTransaction(state), within: timeout)[0]
    guard exists.boolean(0, 0) == true else { return nil }
    let rows = try connection.execute(PostgresTransaction(version), within: timeout)[0]
    guard let number = rows.isEmpty ? nil : rows.integer(0, 0), let oldest = rows.integer(0, 1)
    else { throw PostgresError(.refused, "the table statewire.version of the database is empty") }
    return (Int(number), Int(oldest))
  }

  /// Performs all steps after a version in one transaction; none if another node has done so.
  private static func migrate(
    _ connection: PostgresConnection, from version: Int, _ steps: [Step], _ timeout: Duration
  ) throws(PostgresError) {
    var transaction = PostgresTransaction()
    // The lock is released at the end of the transaction, and a second node then fails in the check.
    func add(_ sql: String) {
      transaction.append(PostgresStatement("migration \(sql.hashValue)", sql))
    }
    add("SELECT pg_advisory_xact_lock(\(lock))")
    add(
      """
      DO $$ BEGIN
        CREATE SCHEMA IF NOT EXISTS statewire;
        CREATE TABLE IF NOT EXISTS statewire.version (version bigint, oldest bigint);
        IF (SELECT coalesce(max(version), 0) FROM statewire.version) <> \(version) THEN
          RAISE EXCEPTION 'another node has migrated the database' USING ERRCODE = 'SW004';
        END IF;
      END $$
      """)
    // Old nodes that could not use the tables any more must end first.
    let needed = steps.dropFirst(version).map(\.oldest).max() ?? 0
    if version > 0, needed > version {
      add(
        """
        DO $$ DECLARE names text; BEGIN
          SELECT string_agg(name, ', ' ORDER BY name) INTO names FROM statewire.node
            WHERE version < \(needed) AND lease_end > clock_timestamp();
          IF names IS NOT NULL THEN
            RAISE EXCEPTION 'nodes with an older program still run, and cannot use the new tables: stop % first',
              names USING ERRCODE = 'SW005';
          END IF;
        END $$
        """)
    }
    var oldest = 0
    for (index, step) in steps.enumerated().dropFirst(version) {
      oldest = max(oldest, step.oldest)
      let statements = step.sql.split(separator: "\n--\n").map(String.init)
      // Statements refer to tables that earlier ones create, so they cannot be prepared before.
      let body = statements.map { "EXECUTE $step$\($0)$step$;" }.joined(separator: "\n")
      add("DO $body$ BEGIN\n\(body)\nEND $body$ /* step \(index + 1) */")
    }
    add(
      """
      DO $$ BEGIN
        DELETE FROM statewire.version;
        INSERT INTO statewire.version (version, oldest) VALUES (\(steps.count), \(oldest));
      END $$
      """)
    do {
      _ = try connection.execute(transaction, within: timeout)
    } catch {
      guard error.sqlState == "SW004" || error.outcome == .unknown else { throw error }
    }
  }

  /// The key of the advisory lock: the text "statewir" as a number.
  private static let lock = 0x7374_6174_6577_6972
}
