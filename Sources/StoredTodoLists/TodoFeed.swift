// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// The feed of one store: sends the list, then its changes.
struct TodoFeed {
  private let storage: any TodoListStorage
  private let list: ByteString
  private let handover: FeedHandover
  /// The last version that was sent; -1 before the list was sent.
  private var version: ListVersion = -1

  init(_ storage: any TodoListStorage, list: ByteString, _ handover: FeedHandover) {
    self.storage = storage
    self.list = list
    self.handover = handover
  }

  /// Sends the list and then its changes, until the task is cancelled or the notifications end.
  ///
  /// - Parameters:
  ///   - notifications: Notifications about commits, from before this call on.
  ///   - reached: Called with each version after the store has it.
  /// - Throws: The error of the storage if the list cannot be read.
  mutating func run(
    _ notifications: ListListeners.Notifications, to context: EffectContext<TodoResult>,
    reached: (ListVersion) -> Void
  ) async throws {
    guard try await begin(to: context, reached) else { return }
    for await item in notifications where item.version > version {
      if let change = item.change, item.version == version + 1 {
        guard await send(.changed(change), item.version, context, reached) else { return }
      } else {
        guard try await catchUp(to: context, reached) else { return }
      }
    }
  }

  /// Sends the list. From then on this feed sends its changes, and no older one.
  ///
  /// - Returns: True if the feed continues.
  private mutating func begin(
    to context: EffectContext<TodoResult>, _ reached: (ListVersion) -> Void
  ) async throws -> Bool {
    let read = try await handover.takeOver {
      guard case .list(let read) = try await storage.read(list, after: -1) else {
        preconditionFailure("without a version the whole list is read")
      }
      return read
    } sending: { read in
      await context.becomeFeed(sending: .todos(read.list))
    }
    return isSent(read.version, reached)
  }

  /// Sends the changes in the database that were not sent yet.
  ///
  /// - Returns: True if the feed continues.
  private mutating func catchUp(
    to context: EffectContext<TodoResult>, _ reached: (ListVersion) -> Void
  ) async throws -> Bool {
    let missed = try await storage.read(list, after: version)
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
  /// - Returns: True if the feed continues.
  private mutating func send(
    _ result: TodoResult, _ version: ListVersion, _ context: EffectContext<TodoResult>,
    _ reached: (ListVersion) -> Void
  ) async -> Bool {
    await handover.send { await context.send(result) }
    return isSent(version, reached)
  }

  /// Records a version that was sent.
  ///
  /// - Returns: True if the store has it; messages of a cancelled feed are dropped.
  private mutating func isSent(_ version: ListVersion, _ reached: (ListVersion) -> Void) -> Bool {
    if Task.isCancelled { return false }
    self.version = version
    reached(version)
    return true
  }
}
