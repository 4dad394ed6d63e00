// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresConnections
import PostgresTestSupport
import SQLiteFiles
import Sessions
import TestSupport
import Testing

@testable import PostgresSessionJournal
@testable import SQLiteSessionJournal

/// The implementations of the journal.
enum Storage: String, CaseIterable, Sendable {
  case memory, sqlite, postgres

  /// The implementations that this machine can test.
  static var all: [Storage] {
    let environment = ProcessInfo.processInfo.environment
    let isSkipped = environment["STATEWIRE_SKIP_POSTGRES"] != nil && environment["CI"] == nil
    return isSkipped ? [.memory, .sqlite] : allCases
  }

  /// Calls `body` with an empty journal.
  func use(_ body: (any JournalStorage) throws -> Void) async throws {
    switch self {
    case .memory: try body(MemoryStorage())
    case .sqlite: try await withFolder { try body(SQLiteStorage(folder: $0)) }
    case .postgres: try body(PostgresStorage())
    }
  }
}

/// A place with a journal, which is opened several times, as by one process after another.
protocol JournalStorage: AnyObject {
  /// Ends the process before, and opens the journal.
  func open() throws -> any SessionJournal
  /// The number of ended sessions that are kept.
  var endedCount: Int { get }
  /// Makes commits of 1 MB or more fail, or permits them again.
  func refuseLarge(_ refuses: Bool) throws
}

/// The reference: what `JournalContents.take` makes of all entries.
private final class MemoryStorage: JournalStorage {
  private final class Journal: SessionJournal {
    struct Large: Error {}
    private var contents: JournalContents { storage.contents }
    let storage: MemoryStorage
    private var loaded: Set<SessionHandle> = []

    init(_ storage: MemoryStorage) { self.storage = storage }

    func commit(_ entries: [JournalEntry]) throws {
      let configurations = entries.compactMap { entry in
        if case .store(_, .opened(_, let configuration, _, _, _)) = entry.event {
          configuration.count
        } else {
          nil
        }
      }
      if storage.refusesLarge, configurations.contains(where: { $0 >= 1 << 20 }) { throw Large() }
      for entry in entries {
        if case .opened = entry.event { loaded.insert(entry.session) }
        storage.contents.take(entry)
      }
    }

    func load() throws -> JournalContents { contents }
    func start() throws -> JournalStart { contents.start }

    func load(_ session: SessionHandle) throws -> LoadedSession {
      loaded.insert(session)
      return contents.loaded(session)
    }

    func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
      contents.continuing(after: position, limit: limit)
    }

    func endExpired(at time: Duration, limit: Int) throws -> Int {
      let expired = contents.expired(at: time, limit: .max).filter { !loaded.contains($0) }
        .prefix(limit)
      for handle in expired { storage.contents.take(JournalEntry(handle, .ended)) }
      return expired.count
    }

    func forget(_ sessions: [SessionHandle]) { loaded.subtract(sessions) }
  }

  fileprivate var contents = JournalContents()
  fileprivate var refusesLarge = false
  var endedCount: Int { .max }

  func open() throws -> any SessionJournal { Journal(self) }
  func refuseLarge(_ refuses: Bool) throws { refusesLarge = refuses }
}

private final class SQLiteStorage: JournalStorage {
  private let folder: String
  private var journal: SQLiteJournal?
  var endedCount: Int { Int(SQLiteJournal.endedCount) }

  init(folder: String) { self.folder = folder }

  func open() throws -> any SessionJournal {
    // A test may still hold it.
    journal?.database.close()
    let opened = try SQLiteJournal(folder: folder)
    journal = opened
    return opened
  }

  func refuseLarge(_ refuses: Bool) throws {
    guard let database = journal?.database else { return }
    // One page more than the limit, as if the disk were full.
    let pages = try refuses ? database.number("PRAGMA page_count") : 1_000_000
    try database.execute("PRAGMA max_page_count = \(pages)")
  }
}

private final class PostgresStorage: JournalStorage {
  private let url: String
  private let observer: PostgresConnection
  private var node: PostgresNode?
  private var journal: PostgresSessionJournal?
  let endedCount = 1000

  init() throws {
    url = try PostgresServer.common().makeDatabase()
    observer = PostgresConnection(try PostgresAddress(url), application: "tests")
  }

  deinit {
    journal?.close()
    node?.close()
  }

  func open() throws -> any SessionJournal {
    if let node {
      let left = AwaitedValue<Result<Void, any Error>>()
      node.leave(ended: left.signal)
      try left.wait().get()
    }
    journal?.close()
    node?.close()
    let address = try PostgresAddress(url)
    let node = try PostgresNode(address, name: "a", address: "127.0.0.1:1") { _ in }
    var options = PostgresSessionJournal.Options()
    options.endedCount = endedCount
    // Often enough that the rows of most sessions are folded.
    options.foldedBytes = 2000
    let journal = PostgresSessionJournal(address, node: node, options: options)
    (self.node, self.journal) = (node, journal)
    return journal
  }

  func refuseLarge(_ refuses: Bool) throws {
    try observer.run("ALTER TABLE statewire.entry DROP CONSTRAINT IF EXISTS large")
    if refuses {
      try observer.run(
        """
        ALTER TABLE statewire.entry ADD CONSTRAINT large CHECK (octet_length(data) < 1000000)
          NOT VALID
        """)
    }
  }
}
