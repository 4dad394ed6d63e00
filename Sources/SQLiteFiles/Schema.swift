// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of one part of a database file, and how older files come to have them.
///
/// Several parts can share a file. A program that opens it names the schemas of all of them: a migration that none of them
/// has is from a newer program, and the file is refused.
///
/// A migration that has shipped is never edited or renamed; a change is a new one at the end.
public struct Schema: Sendable {
  /// One step from an older version to the next.
  public struct Migration: Sendable {
    let name: String
    let sql: String

    /// - Parameters:
    ///   - name: The name that the file records; no other migration of the file has it.
    ///   - sql: The statements, which run in one transaction.
    public init(_ name: String, _ sql: String) {
      self.name = name
      self.sql = sql
    }
  }

  let migrations: [Migration]

  /// - Parameter migrations: All there have ever been, the oldest first.
  public init(_ migrations: [Migration]) { self.migrations = migrations }
}

extension DatabaseMigrator {
  /// A migrator of a file that has these parts.
  init(_ schemas: [Schema]) {
    self.init()
    for migration in schemas.flatMap(\.migrations) {
      registerMigration(migration.name) { db in try db.execute(sql: migration.sql) }
    }
  }
}
