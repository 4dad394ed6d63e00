// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The effects of a table or a document, whose rows are bytes.
struct StoredTable: Sendable {
  let storage: any DocumentStorage
  /// The name in operations.
  let name: String
  /// The name in the storage.
  let storedName: String
  private let positions = WatchPositions()
  private let handover = FeedHandover()

  init(storage: any DocumentStorage, name: String, storedName: String) {
    (self.storage, self.name, self.storedName) = (storage, name, storedName)
  }

  /// Returns work that changes rows; see `DocumentStorage.update`.
  func update<Action>(
    _ operation: String, reading ids: [String], then action: Action?,
    failing failure: @escaping @Sendable (DocumentError) -> Action,
    _ change:
      @escaping @Sendable ([StoredRow?], _ next: TablePosition) throws(DocumentError) ->
      [StoredChange]
  ) -> Effect<Action> {
    let part = ([storedName, operation] + ids).joined(separator: "\u{1F}")
    return .identified(part: part) { [self] id in
      .run("\(name).\(operation)", failing: { failure(DocumentError($0)) }) { context in
        do throws(DocumentError) {
          let position = try await storage.update(storedName, reading: ids, once: id, change)
          await positions.wait(for: position)
        } catch {
          if error.code == .cancelled { return }
          guard let refusal = error.refusal else { throw error }
          return await context.refuse(refusal, otherwise: failure(error))
        }
        if let action { await context.send(action) }
      }
      .serial("\(name).updates")
    }
  }

  /// Returns a feed of the rows and their changes; see `Table.watch`.
  ///
  /// - Parameter action: Makes the action for rows that were read or have changed; nil if there is
  ///   nothing to say, which the first rows never are.
  func watch<Action>(
    after known: TablePosition?, failing failure: @escaping @Sendable (DocumentError) -> Action,
    as action: @escaping @Sendable (StoredRows) throws(DocumentError) -> Action?
  ) -> Effect<Action> {
    .deferred { [self] _ in
      let number = positions.issue()
      return .run("\(name).watch", failing: { failure(DocumentError($0)) }) { context in
        defer { positions.end(number) }
        let watch = TableWatch(
          storage: storage, name: name, storedName: storedName, handover: handover,
          context: context, paused: { positions.end(number) },
          reached: { positions.reached($0, by: number) }, failure: failure, action: action)
        await watch.run(after: known)
      }
      // A write that the store begins later must find this watch, even before its task runs.
      .onBegin { positions.begin(number) }
      .refreshing("\(name).watch")
    }
  }
}

/// One running watch.
private struct TableWatch<Action: Sendable>: Sendable {
  let storage: any DocumentStorage
  let name: String
  let storedName: String
  let handover: FeedHandover
  let context: EffectContext<Action>
  let paused: @Sendable () -> Void
  let reached: @Sendable (TablePosition) -> Void
  let failure: @Sendable (DocumentError) -> Action
  let action: @Sendable (StoredRows) throws(DocumentError) -> Action?

  /// Delivers the rows and then their changes, until the task is cancelled or the storage is closed.
  func run(after known: TablePosition?) async {
    // Before the table is read, so that no change is missed in between.
    var notices = storage.notices(of: storedName).makeAsyncIterator()
    var (position, isFirst) = (known, true)
    var missed: StoredRows?
    while !Task.isCancelled {
      guard let rows = await rows(missed, after: position, isFirst: &isFirst) else { return }
      position = rows.position
      missed = nil
      // Notices of changes that have been read already say nothing new.
      repeat {
        guard let notice = await notices.next() else { return }
        guard notice.position > rows.position else { continue }
        if notice.start == rows.position {
          missed = StoredRows(
            isComplete: false, changes: notice.changes, position: notice.position)
        }
        break
      } while true
    }
  }

  /// Delivers rows that were read, or reads and delivers them; tries again after a failure.
  ///
  /// - Returns: The rows; nil if the watch has ended.
  private func rows(
    _ known: StoredRows?, after position: TablePosition?, isFirst: inout Bool
  ) async -> StoredRows? {
    var (known, reported, attempt) = (known, DocumentError?.none, 0)
    while true {
      do throws(DocumentError) {
        let rows =
          if isFirst { try await begin(after: position) } else { try await next(known, position) }
        isFirst = false
        if Task.isCancelled { return nil }
        reached(rows.position)
        return rows
      } catch {
        if error.code == .cancelled || Task.isCancelled { return nil }
        paused()
        if error != reported {
          let (failure, isFirst) = (failure(error), isFirst)
          await handover.send {
            if isFirst {
              await context.becomeFeed(sending: failure)
            } else {
              await context.send(failure)
            }
          }
        }
        (reported, isFirst) = (error, false)
        known = nil
        attempt += 1
        let wait = Backoff.exponential().delay(before: attempt + 1)
        if (try? await context.sleep(for: wait)) == nil { return nil }
      }
    }
  }

  /// Reads and delivers the first rows. From then on this watch delivers the changes, and no older one.
  private func begin(after position: TablePosition?) async throws(DocumentError) -> StoredRows {
    try await handover.takeOver { () async throws(DocumentError) in
      let rows = try await read(after: position)
      return (rows, try action(rows))
    } sending: { _, action in
      if let action { await context.becomeFeed(sending: action) }
    }.0
  }

  /// Delivers rows that a notice had, or reads and delivers them.
  private func next(
    _ known: StoredRows?, _ position: TablePosition?
  ) async throws(DocumentError) -> StoredRows {
    let rows = if let known { known } else { try await read(after: position) }
    if let action = try action(rows) { await handover.send { await context.send(action) } }
    return rows
  }

  private func read(after position: TablePosition?) async throws(DocumentError) -> StoredRows {
    let storage = storage
    let storedName = storedName
    let fault = DocumentError(.unavailable, "an injected fault")
    return try await context.operation(
      "\(name).read", failing: Result<StoredRows, DocumentError>.failure(fault),
      when: { if case .failure = $0 { true } else { false } }
    ) {
      do throws(DocumentError) {
        return .success(try await storage.read(storedName, after: position))
      } catch {
        return .failure(error)
      }
    }.get()
  }
}
