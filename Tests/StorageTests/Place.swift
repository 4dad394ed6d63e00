// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Documents
import Foundation
import PostgresConnections
import PostgresSessionJournal
import PostgresStorage
import PostgresTestSupport
import SQLiteDocuments
import SQLiteFiles
import SQLiteLedger
import SQLiteTodoDatabase
import StorageTestSupport
import TestSupport

@testable import StoredTodoLists

/// The implementations of storage. Each passes the same tests.
enum Implementation: CaseIterable {
  case memory, sqlite, postgres

  /// The implementations that this machine can test.
  static var all: [Implementation] {
    let environment = ProcessInfo.processInfo.environment
    let isSkipped = environment["STATEWIRE_SKIP_POSTGRES"] != nil && environment["CI"] == nil
    return isSkipped ? [.memory, .sqlite] : allCases
  }

  /// Those of lists and ledgers.
  static var shared: [Implementation] { all.filter { $0 != .memory } }

  /// Calls `body` with an empty place, which several storages can use as several processes do.
  func withPlace<Result>(_ body: (Place) async throws -> Result) async throws -> Result {
    switch self {
    case .memory: return try await body(.memory)
    case .sqlite: return try await withFolder { try await body(.folder($0)) }
    case .postgres:
      let address = try PostgresAddress(PostgresServer.common().makeDatabase())
      try NodeTable(address).close()
      return try await body(.database(address))
    }
  }

  /// Calls `body` with an empty storage of documents, and closes it.
  func withStorage(
    limits: DocumentLimits = DocumentLimits(), removals: Int = 1000,
    _ body: (any DocumentStorage) async throws -> Void
  ) async throws {
    try await withPlace { place in
      let opened = place.documents(limits: limits, removals: removals)
      do {
        try await body(opened.storage)
      } catch {
        await opened.close()
        throw error
      }
      await opened.close()
    }
  }
}

/// The place of the data.
enum Place: Sendable {
  case memory
  case folder(String)
  case database(PostgresAddress)

  /// Opens the lists, as one process. The ids are "1", "2" and so on, unless `ids` has other ones.
  func lists(
    logLength: Int = 1000, limits: TodoLimits = TodoLimits(), ids: CountedIDs? = CountedIDs(),
    complaints: RecordedFailures = RecordedFailures()
  ) -> OpenLists {
    let makeID = ids.map { ids in { @Sendable in ids.make() } } ?? RandomUUID.text
    switch self {
    case .memory: fatalError("lists in memory are part of their stores")
    case .folder(let folder):
      let file = SharedDatabase(folder, TodoDatabase.schema, complaints: complaints)
      let database = TodoDatabase(in: file, logLength: logLength, limits: limits, makeID: makeID)
      return OpenLists(storage: database) {
        database.endFeeds()
        await file.close()
      }
    case .database:
      var options = PostgresStorage.Options()
      (options.logLength, options.todoLimits) = (logLength, limits)
      let storage = postgres(options, makeID: makeID, complaints: complaints)
      return OpenLists(storage: storage.todoLists) { storage.close() }
    }
  }

  /// Opens the documents, as one process.
  func documents(
    limits: DocumentLimits = DocumentLimits(), removals: Int = 1000,
    complaints: RecordedFailures = RecordedFailures()
  ) -> (storage: any DocumentStorage, close: () async -> Void) {
    switch self {
    case .memory:
      let storage = MemoryDocumentStorage(limits: limits, removals: removals)
      return (storage, { storage.close() })
    case .folder(let folder):
      let storage = SQLiteDocumentStorage(
        folder: folder, limits: limits, removals: removals, failed: complaints.add)
      return (storage, { await storage.close() })
    case .database:
      var options = PostgresStorage.Options()
      (options.documentLimits, options.removals) = (limits, removals)
      let storage = postgres(options, complaints: complaints)
      return (storage.documents, { storage.close() })
    }
  }

  /// Opens the storage in PostgreSQL.
  func postgres(
    _ options: PostgresStorage.Options = .init(), calendar: any StoreClock = SystemClock(),
    makeID: @escaping @Sendable () -> String = RandomUUID.text,
    complaints: RecordedFailures = RecordedFailures()
  ) -> PostgresStorage {
    guard case .database(let address) = self else { fatalError("this is not PostgreSQL") }
    return PostgresStorage(
      address, name: "test", options: options, calendar: calendar, makeID: makeID,
      failed: complaints.add)
  }
}

/// The lists of one process.
struct OpenLists: TodoLists {
  let storage: any TodoListStorage
  let end: @Sendable () async -> Void

  init(storage: any TodoListStorage, end: @escaping @Sendable () async -> Void) {
    (self.storage, self.end) = (storage, end)
  }

  func repository(list: String) -> StoredTodoRepository {
    StoredTodoRepository(storage, list: list)
  }

  /// Ends the feeds and closes the lists.
  func close() async { await end() }

  /// Returns the number of changes that a list has had; nil if there is no list.
  func version(of list: String) async throws -> ListVersion? {
    guard case .list(let read) = try await storage.read(ByteString(list), after: -1) else {
      return nil
    }
    return read.version > 0 ? read.version : nil
  }
}
