// SPDX-License-Identifier: Apache-2.0

internal import Documents
internal import PostgresConnections
internal import StateMachines

/// One call of `DocumentStorage.update`.
struct TableUpdate: Sendable {
  let ids: [String]
  /// A globally unique id.
  let operation: String
  /// True if a session may repeat it.
  let isRepeatable: Bool
  let change:
    @Sendable (_ rows: [StoredRow?], _ next: TablePosition) throws(DocumentError) -> [StoredChange]
}

/// The updates of one table by this node.
///
/// Updates that wait are one batch: their rows are read, their closures are called in order, and the
/// changes are written if the table has not changed meanwhile; otherwise this is done again. One task
/// does that for all updates of a batch, and then passes the next batch on to one of its tasks.
final class TableUpdates: Sendable {
  private typealias Result = Swift.Result<TablePosition, any Error>

  /// The end of a wait.
  private enum Turn: Sendable {
    case ended(Result)
    /// The task carries out the next batch.
    case leads
  }

  private struct Waiting: Sendable {
    let update: TableUpdate
    let turn: AwaitedResult<Turn>
  }

  private struct State {
    var isLed = false
    var waiting: [Waiting] = []
  }

  private let table: String
  private let parts: StorageParts
  private let passOn: @Sendable (TableNotice) -> Void
  private let state = Lock(State())

  init(
    of table: String, _ parts: StorageParts, passOn: @escaping @Sendable (TableNotice) -> Void
  ) {
    (self.table, self.parts, self.passOn) = (table, parts, passOn)
  }

  private static var maximumBatch: Int { 64 }

  /// Carries out an update.
  ///
  /// - Throws: A `DocumentError`, `PostgresError` or `CancellationError`.
  func perform(_ update: TableUpdate) async throws -> TablePosition {
    try Task.checkCancellation()
    let mine = Waiting(update: update, turn: AwaitedResult())
    state.withLock { state in
      state.waiting.append(mine)
      if !state.isLed {
        state.isLed = true
        mine.turn.end(.success(.leads))
      }
    }
    let turn: Turn
    do {
      turn = try await mine.turn.wait()
    } catch {
      state.withLock { state in state.waiting.removeAll { $0.turn === mine.turn } }
      throw error
    }
    switch turn {
    case .ended(let result): return try result.get()
    case .leads: return try await lead(mine).get()
    }
  }

  /// Carries out the batch of the update that leads it.
  private func lead(_ mine: Waiting) async -> Result {
    let others = state.withLock { state -> [Waiting] in
      state.waiting.removeAll { $0.turn === mine.turn }
      let batch = Array(state.waiting.prefix(Self.maximumBatch - 1))
      state.waiting.removeFirst(batch.count)
      return batch
    }
    let results = await carryOut([mine.update] + others.map(\.update))
    for (other, result) in zip(others, results.dropFirst()) {
      other.turn.end(.success(.ended(result)))
    }
    state.withLock { state in
      // One that was cancelled does not lead.
      while let next = state.waiting.first {
        if next.turn.end(.success(.leads)) { return }
        state.waiting.removeFirst()
      }
      state.isLed = false
    }
    return results[0]
  }

  /// Reads, calls the closures, and writes, until nothing has changed in between.
  private func carryOut(_ updates: [TableUpdate]) async -> [Result] {
    var ids = updates.flatMap(\.ids)
    do {
      while true {
        let reading = PostgresTransaction(
          DocumentStatements.state, .text(table), .byteArrays(ids.map { Array($0.utf8) }),
          .byteArrays(updates.map { Array($0.operation.utf8) }),
          .integer(Int64(UpdateBatch.followingCount(of: updates))))
        let state = try await parts.writes.executeForOthers(
          reading, on: .table(table), isReading: true)[0]
        let batch = UpdateBatch(
          updates, of: table, reading: ids, state, parts.options.documentLimits)
        if !batch.missing.isEmpty {
          ids += batch.missing
          continue
        }
        if !batch.writesNothing {
          let writing = PostgresTransaction(
            DocumentStatements.write, batch.parameters(table, parts.options))
          let outcome = try await parts.writes.executeForOthers(
            writing, on: .table(table))[0].text(0, 0)
          // A write that was repeated after a lost connection finds that it has moved the table. The
          // next state then has its operations.
          if outcome != "written" { continue }
        }
        // Also if nothing has changed: the position may come from another node.
        passOn(batch.notice)
        return batch.results
      }
    } catch {
      return updates.map { _ in .failure(error) }
    }
  }
}
