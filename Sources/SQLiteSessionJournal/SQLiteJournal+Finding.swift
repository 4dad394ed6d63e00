// SPDX-License-Identifier: Apache-2.0

internal import SQLiteFiles
public import Sessions

// Finding sessions that are not loaded.

extension SQLiteJournal {
  /// Reads which sessions have work to continue; see `SessionJournal`.
  ///
  /// - Throws: `StorageError`.
  public func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    do {
      guard let index else { return ContinuingSessions([], next: nil) }
      let after = position ?? 0
      if index.working == nil { index.working = try repairing { try workingSessions() } }
      let working = (index.working ?? []).lazy.filter { $0 > after }.prefix(limit)
      let rows = try repairing {
        try database.allRows(.continuing, .integer(after), .integer(Int64(limit)))
      }
      let ids = Set(rows.map(\.id)).union(working).sorted().prefix(limit)
      let known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
      var handles: [SessionHandle] = []
      for id in ids {
        // One that cannot be read is found when a client attaches.
        if let found = try known[id] ?? database.rows(.oneSession, .integer(id)).found.first,
          let row = try? SessionRow(found.data, id)
        {
          handles.append(row.handle)
        }
      }
      return ContinuingSessions(handles, next: ids.count < limit ? nil : ids.last)
    } catch {
      throw StorageError(journal: error, in: folder)
    }
  }

  /// Reads sessions with their stores, in the order in which they were opened, without loading them.
  ///
  /// - Parameters:
  ///   - position: The position after which to read; nil for the first call.
  ///   - limit: The maximum number of sessions.
  /// - Returns: The sessions that can be read, and the position after which the next ones are; nil if
  ///   there are no more.
  /// - Throws: `StorageError`, also if the journal is damaged.
  public func sessions(
    after position: Int64?, limit: Int
  ) throws -> (sessions: [JournalContents.Session], next: Int64?) {
    do {
      guard let index else { return ([], nil) }
      let rows = try database.rows(
        .nextSessions, .integer(position ?? 0), .integer(Int64(limit)))
      if let failure = rows.failure { throw failure }
      var reader = JournalReader(database: database, index: index)
      var sessions: [JournalContents.Session] = []
      for found in rows.found {
        guard let row = try? SessionRow(found.data, found.id) else { continue }
        let known = JournaledSession(id: found.id, row: row, isLoaded: false)
        sessions += [try reader.read(known)].compactMap { $0 }
      }
      return (sessions, rows.found.count < limit ? nil : rows.found.last?.id)
    } catch {
      throw StorageError(journal: error, in: folder)
    }
  }

  /// Reads the states that are kept aside, oldest first.
  ///
  /// - Throws: `StorageError`.
  public func keptStates() throws -> [KeptState] {
    do {
      guard let index else { return [] }
      var reader = JournalReader(database: database, index: index)
      var states: [KeptState] = []
      for (id, row) in try reader.readKept() {
        states += [try reader.readState(of: row, id)].compactMap { $0 }
      }
      return states
    } catch {
      throw StorageError(journal: error, in: folder)
    }
  }

  /// Reads the ids of the sessions with unsettled inputs.
  private func workingSessions() throws -> [Int64] {
    var sessions: Set<Int64> = []
    for store in try database.allRows(.acceptedStores).map(\.id) {
      let found = try database.rows(.store, .integer(store)).found.first
      if let row = found.flatMap({ try? StoreRow($0.data, store) }) { sessions.insert(row.session) }
    }
    return sessions.sorted()
  }

  /// Ends sessions whose time is over; see `SessionJournal`.
  ///
  /// - Throws: `StorageError`; nothing has been written in that case.
  public func endExpired(at time: Duration, limit: Int) throws -> Int {
    do {
      guard let index else { return 0 }
      return try repairing {
        let expired = try expired(at: time, limit, index)
        if !expired.isEmpty { try JournalTurn(database: database, index: index).end(expired) }
        return expired.count
      }
    } catch {
      throw StorageError(journal: error, in: folder)
    }
  }

  /// Reads sessions that are not loaded and whose time is over.
  private func expired(
    at time: Duration, _ limit: Int, _ index: JournalIndex
  ) throws(SQLiteFailure) -> [JournaledSession] {
    var expired: [JournaledSession] = []
    let failure = try database.read(.expired, [.integer(time.nanoseconds)]) { found in
      // A row that cannot be read stays until a client attaches to its session.
      guard let row = try? SessionRow(found.data, found.id), index.sessions[row.handle] == nil,
        let deadline = row.deadline, deadline <= time
      else { return true }
      expired.append(JournaledSession(id: found.id, row: row, isLoaded: false))
      return expired.count < limit
    }
    if let failure { throw failure }
    return expired
  }
}
