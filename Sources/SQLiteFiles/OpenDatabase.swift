// SPDX-License-Identifier: Apache-2.0

public import GRDB

/// The connections to a database, and the files that they have opened.
public struct OpenDatabase: Sendable {
  let pool: DatabasePool
  package let files: OpenedFiles

  /// Reads within one transaction.
  ///
  /// - Throws: `fileMissing`, or what `body` throws.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await pool.read { [files] db in
      try files.check()
      return try body(db)
    }
  }

  /// Writes within one transaction, which is rolled back if one of the files is missing at its end.
  ///
  /// - Throws: `fileMissing`, or what `body` throws; nothing has been written then.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await onWriter { [files] db in try db.write(checking: files) { try body(db) } }
  }

  /// Calls `body` on the queue of the writer, outside of a transaction.
  package func onWriter<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await pool.writeWithoutTransaction(body)
  }
}

extension GRDB.Database {
  /// Writes within one transaction, which is rolled back if one of the files is missing at its end.
  ///
  /// - Throws: `fileMissing`, or what `body` throws; nothing has been written then.
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
