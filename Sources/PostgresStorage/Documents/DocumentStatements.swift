// SPDX-License-Identifier: Apache-2.0

internal import Documents
internal import PostgresConnections

/// The statements of the documents.
enum DocumentStatements {
  static let read = PostgresStatement(
    "document read", "SELECT * FROM statewire.document_read($1::bytea, $2::bigint)")

  static let state = PostgresStatement(
    "document state",
    """
    SELECT * FROM statewire.document_state($1::bytea, $2::bytea[], $3::bytea[], $4::bigint)
    """)

  static let write = PostgresStatement(
    "document write",
    """
    SELECT statewire.document_write($1::bytea, $2::bigint, $3::bytea[], $4::bigint[], $5::bytea[],
      $6::bytea[], $7::bigint[], $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint,
      $13::bigint)
    """)

  /// The changes of several tables, each since a position: the place of the table, and the rows
  /// of `statewire.document_read`.
  static let changes = PostgresStatement(
    "document changes",
    """
    SELECT place, r.number, r.id, r.version, r.value
      FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS watched (name, since, place)
      JOIN statewire.document_table t
        ON sha256(t.name) = sha256(watched.name) AND t.position > since
      CROSS JOIN LATERAL statewire.document_read(watched.name, since)
        WITH ORDINALITY AS r (number, id, version, value, line)
      ORDER BY place, r.line
    """)
}

extension StoredRows {
  /// Reads the rows of `statewire.document_read`.
  ///
  /// - Parameters:
  ///   - rows: The result of a statement.
  ///   - lines: The rows of one table.
  ///   - column: The first of its columns.
  init(_ rows: PostgresRows, _ lines: Range<Int>, column: Int = 0) {
    guard let head = lines.first else {
      self.init(isComplete: true, changes: [], position: 0)
      return
    }
    let changes = lines.dropFirst().map { row -> StoredChange in
      let id = rows.text(row, column + 1) ?? ""
      guard let value = rows.bytes(row, column + 3) else { return .removed(id: id) }
      return .put(
        StoredRow(id: id, version: Int(rows.integer(row, column + 2) ?? 0), value: value))
    }
    self.init(
      isComplete: rows.integer(head, column + 2) == 1, changes: changes,
      position: TablePosition(rawValue: rows.integer(head, column) ?? 0))
  }
}
