// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Dispatch
import GRDB

@testable import Persistence

extension EmbeddedDatabase {
  /// Calls `body` within a transaction.
  func write<Result: Sendable>(
    _ body: @escaping @Sendable (GRDB.Database) throws -> Result
  ) async throws -> Result {
    try await sharedPool.use { try await $0.pool.write(body) }
  }

  /// Calls `body` while nobody else can write.
  func whileWriting(_ body: () async throws -> Void) async throws {
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

  /// How it waits for the disk, in SQLite's number.
  func synchronous() async throws -> Int? {
    try await sharedPool.use { database in
      try await database.pool.writeWithoutTransaction {
        try Int.fetchOne($0, sql: "PRAGMA synchronous")
      }
    }
  }

  /// Does something with the tables themselves, as nobody but a test may.
  func execute(_ sql: String) async throws {
    try await write { db in try db.execute(sql: sql) }
  }

  /// Adds a todo and tells nobody, as another process does.
  func addSilently(_ title: String, to list: String) async throws {
    let (logLength, makeID) = (logLength, makeID)
    try await write { db in
      _ = try TodoTransaction(db: db, list: list, logLength: logLength, makeID: makeID)
        .perform(.add(title: title))
    }
  }

  /// How many changes a list has had.
  func version(of list: String) async throws -> ListVersion? {
    try await write { db in try StoredList(named: list, in: db)?.version }
  }

  /// How many changes of a list are written down.
  func logLength(of list: String) async throws -> Int {
    try await write { db in
      guard let stored = try StoredList(named: list, in: db) else { return 0 }
      return try db.numbers(.logged, [stored.id, 0]).count
    }
  }
}
