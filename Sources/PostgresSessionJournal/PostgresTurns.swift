// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import Sessions
internal import StateMachines

/// The transaction that journals the entries of some turns.
///
/// A session has one row in it, however many turns it has.
struct PostgresTurns {
  /// The sessions that the transaction changes, each with its state before.
  private(set) var before: [(session: LoggedSession, progress: LoggedSession.Progress)] = []
  /// The sessions that it opens.
  private(set) var opened: [LoggedSession] = []
  /// The sessions that it ends or gives up.
  private(set) var ended: [LoggedSession] = []
  /// True if an entry belongs to a session that is not in memory. The session was lost to another
  /// node: nothing of it may be journaled.
  private(set) var hasUnknownSession = false
  /// The approximate size of its rows, in bytes.
  private(set) var byteCount = 0

  private var fenced: (handles: [PostgresUUID], epochs: [Int64]) = ([], [])
  private var statements: (opening: [Query], rest: [Query]) = ([], [])

  typealias Query = (PostgresStatement, [PostgresParameter])

  /// The rows of one session.
  private struct Part {
    let session: LoggedSession
    var entries = EntryWriter()
    /// True if everything before is replaced.
    var isWhole = false
  }

  /// Creates the transaction.
  ///
  /// - Parameters:
  ///   - entries: The entries.
  ///   - sessions: The sessions in memory, which change as if the transaction were committed.
  ///   - node: The id of this node.
  ///   - endedCount: The number of ended sessions that are kept.
  init(
    _ entries: [JournalEntry], in sessions: inout [SessionHandle: LoggedSession], node: Int64,
    endedCount: Int64
  ) {
    var parts: [Part] = []
    var positions: [SessionHandle: Int] = [:]
    var kept = KeptChanges()
    var written: [SessionHandle: LoggedSession.Summary] = [:]
    for entry in entries {
      if kept.take(entry.event) { continue }
      if case .opened = entry.event, sessions[entry.session] == nil {
        let session = LoggedSession(handle: entry.session, epoch: 1, progress: .init())
        sessions[entry.session] = session
        opened.append(session)
      }
      guard let session = sessions[entry.session] else {
        if entry.event != .ended { hasUnknownSession = true }
        continue
      }
      let position =
        positions[entry.session]
        ?? {
          before.append((session, session.progress))
          written[session.handle] = session.progress.summary
          parts.append(Part(session: session))
          positions[entry.session] = parts.count - 1
          return parts.count - 1
        }()
      switch entry.event {
      case .opened:
        let number = session.progress.number
        session.progress = .init()
        session.progress.number = number
        parts[position].entries = EntryWriter()
        parts[position].isWhole = true
      case .ended:
        ended.append(session)
        sessions[entry.session] = nil
        positions[entry.session] = nil
        continue
      default: break
      }
      session.progress.take(entry.event)
      parts[position].entries.append(entry.event)
    }
    add(parts, written, node)
    addEnded(endedCount)
    statements.rest += kept.queries
  }

  private mutating func add(
    _ parts: [Part], _ written: [SessionHandle: LoggedSession.Summary], _ node: Int64
  ) {
    var rows: (handles: [PostgresUUID], numbers: [Int64], data: [[UInt8]]) = ([], [], [])
    var whole: [LoggedSession] = []
    var changed: [LoggedSession] = []
    for part in parts {
      let session = part.session
      if ended.contains(where: { $0 === session }) {
        // One that was opened in this transaction has no row.
        if !opened.contains(where: { $0 === session }) { fence(session) }
        continue
      }
      fence(session)
      let data = part.entries.bytes
      byteCount += data.count
      session.progress.number += 1
      if part.isWhole {
        whole.append(session)
        (session.progress.baseBytes, session.progress.laterBytes) = (data.count, 0)
      } else {
        session.progress.laterBytes += data.count
        if session.progress.summary != written[session.handle] { changed.append(session) }
      }
      rows.handles.append(session.handle.uuid)
      rows.numbers.append(session.progress.number)
      rows.data.append(data)
    }
    if !whole.isEmpty {
      let columns = Columns(whole)
      statements.opening = [
        (
          JournalStatements.open,
          [
            columns.handles, .integer(node),
            .byteArrays(whole.map { $0.progress.owner.map { Array($0.utf8) } }), columns.deadlines,
            columns.empty, columns.bytes, columns.continues,
          ]
        )
      ]
      statements.rest.append((JournalStatements.removeEntries, [columns.handles]))
    }
    if !rows.handles.isEmpty {
      statements.rest.append(
        (
          JournalStatements.insertEntries,
          [.uuids(rows.handles), .integers(rows.numbers), .byteArrays(rows.data)]
        ))
    }
    if !changed.isEmpty {
      let columns = Columns(changed)
      statements.rest.append(
        (
          JournalStatements.summarise,
          [columns.handles, columns.deadlines, columns.empty, columns.bytes, columns.continues]
        ))
    }
  }

  private mutating func fence(_ session: LoggedSession) {
    fenced.handles.append(session.handle.uuid)
    fenced.epochs.append(session.epoch)
  }

  private mutating func addEnded(_ endedCount: Int64) {
    guard !ended.isEmpty else { return }
    let handles = PostgresParameter.uuids(ended.map(\.handle.uuid))
    let owners = ended.map { $0.progress.owner.map { Array($0.utf8) } }
    statements.rest += [
      (JournalStatements.removeEntries, [handles]),
      (JournalStatements.removeSessions, [handles]),
      (JournalStatements.end, [handles, .byteArrays(owners)]),
      (JournalStatements.forgetEnded, [.integer(endedCount)]),
    ]
  }

  /// Creates the transaction that gives sessions up.
  ///
  /// - Parameter sessions: The sessions in memory, from which these are removed.
  init(releasing handles: [SessionHandle], in sessions: inout [SessionHandle: LoggedSession]) {
    for handle in handles {
      guard let session = sessions.removeValue(forKey: handle) else { continue }
      ended.append(session)
      fence(session)
    }
    statements.rest = [(JournalStatements.release, [.uuids(fenced.handles)])]
  }

  /// A session whose rows up to one are folded, and the bytes of the row that replaces them.
  struct Folded {
    let session: LoggedSession
    let progress: LoggedSession.Progress
    let data: [UInt8]
  }

  /// Creates the transaction that replaces the rows of some sessions by one row each.
  init(folding folded: [Folded]) {
    for one in folded {
      fence(one.session)
      byteCount += one.data.count
    }
    let numbers = PostgresParameter.integers(folded.map(\.progress.number))
    statements.rest = [
      (
        JournalStatements.replaceEntries,
        [.uuids(fenced.handles), numbers, .byteArrays(folded.map(\.data))]
      ),
      (JournalStatements.removeEarlier, [.uuids(fenced.handles), numbers]),
    ]
  }

  /// Returns the statements.
  ///
  /// - Parameters:
  ///   - writer: The id and the generation of the writer.
  ///   - number: The number of the transaction.
  func transaction(
    _ writer: (id: Int64, generation: Int64), number: Int64
  ) -> PostgresTransaction {
    var transaction = PostgresTransaction()
    for (statement, parameters) in statements.opening {
      transaction.append(statement, parameters)
    }
    transaction.append(
      JournalStatements.fence,
      [
        .integer(writer.id), .integer(writer.generation), .integer(number),
        .uuids(fenced.handles), .integers(fenced.epochs),
      ])
    for (statement, parameters) in statements.rest { transaction.append(statement, parameters) }
    return transaction
  }

  /// The columns of the rows of `session`.
  private struct Columns {
    let handles, deadlines, empty, bytes, continues: PostgresParameter

    init(_ sessions: [LoggedSession]) {
      let summaries = sessions.map(\.progress.summary)
      handles = .uuids(sessions.map(\.handle.uuid))
      deadlines = .integers(summaries.map(\.deadline))
      empty = .booleans(summaries.map(\.isEmpty))
      bytes = .integers(summaries.map(\.bytes))
      continues = .booleans(summaries.map(\.continues))
    }
  }
}

/// The changes of the states that are kept aside; of one state, the last change counts.
private struct KeptChanges {
  private var changes: [(key: KeptState.Key, state: KeptState?)] = []

  /// Takes an event, if it is one of these.
  mutating func take(_ event: JournalEntry.Event) -> Bool {
    switch event {
    case .keptAside(let state): add(state.key, state)
    case .keptRemoved(let key): add(key, nil)
    default: return false
    }
    return true
  }

  private mutating func add(_ key: KeptState.Key, _ state: KeptState?) {
    changes.removeAll { $0.key == key }
    changes.append((key, state))
  }

  var queries: [PostgresTurns.Query] {
    guard !changes.isEmpty else { return [] }
    var queries: [PostgresTurns.Query] = [
      (JournalStatements.removeKept, Self.columns(changes.map(\.key)))
    ]
    let kept = changes.compactMap(\.state)
    if !kept.isEmpty {
      let data = kept.map { state in
        var writer = EntryWriter()
        writer.append(state)
        return writer.bytes
      }
      queries.append(
        (
          JournalStatements.keep,
          Self.columns(kept.map(\.key)) + [
            .integers(kept.map { Int64($0.state.count) }), .byteArrays(data),
          ]
        ))
    }
    return queries
  }

  private static func columns(_ keys: [KeptState.Key]) -> [PostgresParameter] {
    [
      .uuids(keys.map(\.session.uuid)), .byteArrays(keys.map { Array($0.store.string.utf8) }),
      .integers(keys.map { Int64($0.revision) }),
    ]
  }
}
