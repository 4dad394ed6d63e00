// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// One store's view of one list: the list, then its changes.
struct TodoFeed {
  let file: SharedDatabase
  let listeners: ListListeners
  let list: ByteString
  /// What has been given; -1 before the list has.
  private var version: ListVersion = -1

  init(file: SharedDatabase, listeners: ListListeners, list: ByteString) {
    self.file = file
    self.listeners = listeners
    self.list = list
  }

  /// Gives the list and then its changes until cancelled, or until the news end.
  ///
  /// - Parameters:
  ///   - news: What has been committed since before this began.
  ///   - reached: Called with each version once the store holds it.
  /// - Throws: When the database cannot be read.
  mutating func run(
    _ news: ListListeners.News, giving context: EffectContext<TodoResult>,
    reached: (ListVersion) -> Void
  ) async throws(StorageError) {
    guard try await catchUp(giving: context, reached) else { return }
    for await item in news where item.version > version {
      if let change = item.change, item.version == version + 1 {
        guard await give(.changed(change), item.version, context, reached) else { return }
      } else {
        guard try await catchUp(giving: context, reached) else { return }
      }
    }
  }

  /// Gives what the database knows and this has not given yet.
  ///
  /// - Returns: Whether to go on.
  private mutating func catchUp(
    giving context: EffectContext<TodoResult>, _ reached: (ListVersion) -> Void
  ) async throws(StorageError) -> Bool {
    let (list, version, listeners) = (list, version, listeners)
    let missed = try await file.use { database in
      try await database.read { db in
        try Missed(since: version, ofListNamed: list, in: db, sharing: listeners)
      }
    }
    switch missed {
    case .list(let read):
      return await give(.todos(read.list), read.version, context, reached)
    case .changes(let changes):
      for (version, change) in changes {
        guard await give(.changed(change), version, context, reached) else { return false }
      }
      return true
    }
  }

  /// - Returns: Whether it was folded; what a cancelled feed sends is dropped.
  private mutating func give(
    _ answer: TodoResult, _ version: ListVersion, _ context: EffectContext<TodoResult>,
    _ reached: (ListVersion) -> Void
  ) async -> Bool {
    if self.version < 0 {
      // The list is there: from here on it is this one that tells its changes.
      await context.becomeFeed(sending: answer)
    } else {
      await context.send(answer)
    }
    guard !Task.isCancelled else { return false }
    self.version = version
    reached(version)
    return true
  }
}

/// What has happened to a list since a version.
enum Missed: Sendable {
  /// Each with its version, in order, without a gap.
  case changes([(ListVersion, TodoChange)])
  /// All of it, where the log of changes does not reach back so far.
  case list(ReadList)

  /// Reads it within one transaction; since -1 is all of it.
  ///
  /// - Parameter listeners: Who may have read the list before.
  init(
    since version: ListVersion, ofListNamed name: ByteString, in db: GRDB.Database,
    sharing listeners: ListListeners
  ) throws {
    guard let list = try StoredList(named: name.string, in: db) else {
      self = version < 0 ? .list(ReadList(version: 0, list: [])) : .changes([])
      return
    }
    if version >= 0, let changes = try list.changes(since: version) {
      self = .changes(changes)
    } else {
      let read = ReadList(
        version: list.version, list: try list.todos(after: listeners.lastRead(name)))
      self = .list(listeners.share(read, of: name))
    }
  }
}
