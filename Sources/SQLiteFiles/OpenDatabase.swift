// SPDX-License-Identifier: Apache-2.0

public import GRDB

/// The connections of an open database, and the identities of its files.
public struct OpenDatabase: Sendable {
  let pool: DatabasePool
  /// The identities of the open files.
  package let files: OpenedFiles

  /// Runs `body` within one read transaction.
  ///
  /// - Throws: `fileMissing`, or errors of `body`.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await pool.read { [files] db in
      try files.check()
      return try body(db)
    }
  }

  /// Runs `body` within one write transaction, which is rolled back if a file is missing at its
  /// end.
  ///
  /// - Throws: `fileMissing`, or errors of `body`; nothing has been written in either case.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await onWriter { [files] db in try db.write(checking: files) { try body(db) } }
  }

  /// Runs `body` on the writer's queue, outside a transaction.
  package func onWriter<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await pool.writeWithoutTransaction(body)
  }
}

extension GRDB.Database {
  /// Runs `body` within one write transaction, which is rolled back if a file is missing at its
  /// end.
  ///
  /// - Throws: `fileMissing`, or errors of `body`; nothing has been written in either case.
  package func write<Result>(
    checking files: OpenedFiles, _ body: () throws -> Result
  ) throws -> Result {
    var result: Result?
    try inTransaction(.immediate) {
      result = try body()
      try files.check()
      return .commit
    }
    guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
    return result
  }
}
