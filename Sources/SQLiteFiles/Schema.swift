// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of one part of a database file, as a list of migrations.
///
/// Several parts can share a file. A program that opens the file names the schemas of all parts: a
/// migration that no schema contains is from a newer program, and the file is refused.
///
/// A migration that has shipped is never edited or renamed; a change is a new migration at the end.
public struct Schema: Sendable {
  /// One step from a schema version to the next.
  public struct Migration: Sendable {
    let name: String
    let sql: String

    /// Creates a migration.
    ///
    /// - Parameters:
    ///   - name: The name that the file records; unique among all migrations of the file.
    ///   - sql: The statements, which run in one transaction.
    public init(_ name: String, _ sql: String) {
      self.name = name
      self.sql = sql
    }
  }

  let migrations: [Migration]

  /// Creates a schema.
  ///
  /// - Parameter migrations: All migrations that ever shipped, the oldest first.
  public init(_ migrations: [Migration]) { self.migrations = migrations }
}

extension DatabaseMigrator {
  /// Creates a migrator with the migrations of all parts of a file.
  init(_ schemas: [Schema]) {
    self.init()
    for migration in schemas.flatMap(\.migrations) {
      registerMigration(migration.name) { db in try db.execute(sql: migration.sql) }
    }
  }
}
