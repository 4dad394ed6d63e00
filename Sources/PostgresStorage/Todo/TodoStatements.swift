// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections

/// The statements of the todo lists.
enum TodoStatements {
  static let read = PostgresStatement(
    "todo read", "SELECT * FROM statewire.todo_read($1::bytea, $2::bigint)")

  static let perform = PostgresStatement(
    "todo perform",
    """
    SELECT * FROM statewire.todo_perform($1::bytea, $2::bytea, $3::text, $4::bytea, $5::boolean,
      $6::bytea, $7::bytea, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint)
    """)

  /// The changes of several lists, each since a version: the place of the list, its version, and each
  /// change that the log has; without one if there is none.
  static let changes = PostgresStatement(
    "todo changes",
    """
    SELECT place, l.version, c.version, c.operation, c.todo, c.title, c.other
      FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS shown (name, since, place)
      JOIN statewire.todo_list l ON sha256(l.name) = sha256(shown.name) AND l.version > since
      LEFT JOIN statewire.todo_change c ON c.list = l.id AND c.version > since
      ORDER BY place, c.version
    """)
}
