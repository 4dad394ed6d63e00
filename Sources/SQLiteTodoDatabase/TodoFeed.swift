// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// The feed of one store: sends the list, then its changes.
struct TodoFeed {
  let file: SharedDatabase
  let listeners: ListListeners
  let list: ByteString
  /// The last version that was sent; -1 before the list was sent.
  private var version: ListVersion = -1

  init(file: SharedDatabase, listeners: ListListeners, list: ByteString) {
    self.file = file
    self.listeners = listeners
    self.list = list
  }

  /// Sends the list and then its changes, until the task is cancelled or the notifications end.
  ///
  /// - Parameters:
  ///   - notifications: Notifications about commits, from before this call on.
  ///   - reached: Called with each version after the store has it.
  /// - Throws: A `StorageError` if the database cannot be read.
  mutating func run(
    _ notifications: ListListeners.Notifications, to context: EffectContext<TodoResult>,
    reached: (ListVersion) -> Void
  ) async throws(StorageError) {
    guard try await catchUp(to: context, reached) else { return }
    for await item in notifications where item.version > version {
      if let change = item.change, item.version == version + 1 {
        guard await send(.changed(change), item.version, context, reached) else { return }
      } else {
        guard try await catchUp(to: context, reached) else { return }
      }
    }
  }

  /// Sends the changes in the database that were not sent yet.
  ///
  /// - Returns: True if the feed continues.
  private mutating func catchUp(
    to context: EffectContext<TodoResult>, _ reached: (ListVersion) -> Void
  ) async throws(StorageError) -> Bool {
    let (list, version, listeners) = (list, version, listeners)
    let missed = try await file.use { database in
      try await database.read { db in
        try MissedChanges(since: version, ofListNamed: list, in: db, sharing: listeners)
      }
    }
    switch missed {
    case .list(let read):
      return await send(.todos(read.list), read.version, context, reached)
    case .changes(let changes):
      for (version, change) in changes {
        guard await send(.changed(change), version, context, reached) else { return false }
      }
      return true
    }
  }

  /// Sends one message to the store.
  ///
  /// - Returns: True if the store has folded it; messages of a cancelled feed are dropped.
  private mutating func send(
    _ result: TodoResult, _ version: ListVersion, _ context: EffectContext<TodoResult>,
    _ reached: (ListVersion) -> Void
  ) async -> Bool {
    if self.version < 0 {
      // The list has been read: from now on this feed sends its changes.
      await context.becomeFeed(sending: result)
    } else {
      await context.send(result)
    }
    guard !Task.isCancelled else { return false }
    self.version = version
    reached(version)
    return true
  }
}

/// The changes of a list since a version.
enum MissedChanges: Sendable {
  /// The changes in order and without a gap, each with its version.
  case changes([(ListVersion, TodoChange)])
  /// The whole list, if the change log does not contain all changes.
  case list(ReadList)

  /// Reads the changes within one transaction; the whole list if the version is -1.
  ///
  /// - Parameter listeners: The owner of the content that was read before.
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
