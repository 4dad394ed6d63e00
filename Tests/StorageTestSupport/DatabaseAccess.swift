// SPDX-License-Identifier: Apache-2.0

import Dispatch
public import GRDB
public import SQLiteFiles
public import TestSupport

extension SharedDatabase {
  /// Creates a database in the file `statewire.sqlite` of a folder.
  public convenience init(
    _ folder: String, _ schemas: Schema..., busyTimeout: Duration = .seconds(5),
    complaints: RecordedFailures = RecordedFailures()
  ) {
    self.init(
      folder: folder, name: "statewire.sqlite", schemas: schemas, busyTimeout: busyTimeout,
      failed: complaints.add)
  }

  /// Calls `body` within a transaction.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await use { try await $0.write(body) }
  }

  /// Executes SQL on the tables directly; only tests do this.
  public func execute(_ sql: String) async throws {
    try await write { db in try db.execute(sql: sql) }
  }

  /// Calls `body` while a transaction prevents all other writes.
  public func whileWriting(_ body: () async throws -> Void) async throws {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let end = DispatchSemaphore(value: 0)
    async let writing: Void = write { _ in
      begin.finish()
      end.wait()
    }
    for await _ in begun {}
    let result: Swift.Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    end.signal()
    try await writing
    try result.get()
  }
}
