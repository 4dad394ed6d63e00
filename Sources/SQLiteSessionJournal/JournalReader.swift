// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// Reads the contents of a journal and reports each part that cannot be read.
///
/// A missing row is detected like a damaged one: steps are numbered, a session row lists its
/// stores, and the mark of a store records whether there is a state.
struct JournalReader {
  let database: JournalDatabase
  private(set) var contents = JournalContents()
  /// The sessions with at least one part that cannot be read.
  private(set) var damagedSessions: Set<SessionHandle> = []
  let index: JournalIndex

  init(database: JournalDatabase) throws(SQLiteFailure) {
    self.database = database
    index = try JournalIndex(database)
    if index.isDamaged { damaged("The last ids in the session journal cannot be read.") }
  }

  /// Creates a reader for sessions of a journal that is in use.
  init(database: JournalDatabase, index: JournalIndex) {
    self.database = database
    self.index = index
  }

  /// Reads the whole journal.
  ///
  /// - Throws: `SQLiteFailure` other than damage, for example a read error of the disk.
  mutating func read() throws(SQLiteFailure) {
    try readLoads()
    try readEnded()
    let stores = try readStores()
    for session in try readSessions() {
      session.row.stores = (stores[session.id] ?? []).sorted { $0.1.order < $1.1.order }.map(\.0)
      if let read = try read(session, stores[session.id] ?? []) {
        contents.sessions.append(read)
        index.sessions[session.row.handle] = session
      } else {
        contents.ended.append((session.row.handle, session.row.owner))
      }
    }
    for (id, row) in try readKept() {
      guard let kept = try readState(of: row, id) else { continue }
      contents.kept.append(kept)
    }
  }

  /// Reads the states that are kept aside, without their texts.
  mutating func readKept() throws(SQLiteFailure) -> [(id: Int64, row: KeptRow)] {
    var kept: [(id: Int64, row: KeptRow)] = []
    for found in try rows("states that are kept aside", .kept) {
      index.lastKept = max(index.lastKept, found.id)
      if let row = try? KeptRow(found.data, found.id) {
        index.kept[row.kept.key] = found.id
        kept.append((found.id, row))
      } else {
        damaged("A state that was kept aside cannot be read; it is lost.")
      }
    }
    return kept
  }

  /// Reads the text of a state that is kept aside; nil if it cannot be read.
  mutating func readState(of row: KeptRow, _ id: Int64) throws(SQLiteFailure) -> KeptState? {
    let found = try rows("states that are kept aside", .keptState, .integer(id)).first
    guard let state = found.flatMap({ try? KeptStateRow.state($0.data, id) }) else {
      damaged(
        "The state of store \(row.kept.store) that was kept aside cannot be read; it is lost.")
      return nil
    }
    var kept = row.kept
    kept.state = state
    return kept
  }

  /// Reads what a server needs before its first client.
  ///
  /// - Parameter crashed: The sessions that are set aside because of crashes; they count as loaded.
  /// - Throws: `SQLiteFailure` other than damage.
  mutating func readStart(crashed: [SessionHandle]) throws(SQLiteFailure) -> JournalStart {
    try readLoads()
    var start = JournalStart()
    var setAside: [JournaledSession] = []
    for handle in crashed {
      do throws(SQLiteFailure) {
        if let known = try index.session(handle) { setAside.append(known) }
      } catch {
        guard error.isDamage else { throw error }
        damaged("A session that is set aside cannot be read.")
      }
    }
    for known in setAside.sorted(by: { $0.id < $1.id }) {
      guard let session = try read(known) else { continue }
      index.sessions[known.row.handle] = known
      start.setAside.append(session)
    }
    for found in try rows("sessions", .owners) {
      guard let row = try? SessionRow(found.data, found.id) else {
        damaged("A session cannot be read: it is lost, with its stores.")
        continue
      }
      if index.sessions[row.handle] == nil { start.owners.append(row.handle) }
    }
    start.keptBytes = try readKept().reduce(0) { $0 + $1.row.byteCount }
    return start
  }

  /// Reads one session; nil if it has ended, because a required part of it cannot be read.
  ///
  /// - Throws: `SQLiteFailure` other than damage.
  mutating func read(_ session: JournaledSession) throws(SQLiteFailure) -> JournalContents.Session?
  {
    var stores: [(Int64, StoreRow)] = []
    for id in session.row.stores {
      for found in try rows("stores", .store, .integer(id)) {
        if let row = try? StoreRow(found.data, id), row.session == session.id {
          stores.append((id, row))
        }
      }
    }
    return try read(session, stores)
  }

  mutating func readLoads() throws(SQLiteFailure) {
    do {
      let number = try database.number("SELECT coalesce(max(id), 0) FROM load")
      contents.loads = UInt64(clamping: number) + 1
    } catch {
      guard error.isDamage else { throw error }
      contents.loads = 1
      damaged("The load count of the session journal cannot be read; it restarts at 1.")
    }
  }

  private mutating func readEnded() throws(SQLiteFailure) {
    var lost = 0
    for found in try rows("ended sessions", .ended) {
      if let row = try? EndedRow(found.data, found.id) {
        contents.ended.append((row.handle, row.owner))
      } else {
        lost += 1
      }
    }
    if lost > 0 { damaged("\(lost) ended sessions cannot be read: their handles are now unknown.") }
  }

  private mutating func readSessions() throws(SQLiteFailure) -> [JournaledSession] {
    var sessions: [JournaledSession] = []
    for found in try rows("sessions", .sessions) {
      guard let row = try? SessionRow(found.data, found.id) else {
        damaged("A session cannot be read: it is lost, with its stores.")
        continue
      }
      sessions.append(JournaledSession(id: found.id, row: row, isLoaded: false))
    }
    return sessions
  }

  /// Reads the rows of all stores.
  ///
  /// - Returns: The stores of each session. The session notices a store that cannot be read by
  ///   their count.
  private mutating func readStores() throws(SQLiteFailure) -> [Int64: [(Int64, StoreRow)]] {
    var stores: [Int64: [(Int64, StoreRow)]] = [:]
    for found in try rows("stores", .stores) {
      if let row = try? StoreRow(found.data, found.id) {
        stores[row.session, default: []].append((found.id, row))
      }
    }
    return stores
  }

  /// Reads one session with its stores.
  ///
  /// - Returns: Nil if a required part of the session cannot be read.
  private mutating func read(
    _ record: JournaledSession, _ stores: [(Int64, StoreRow)]
  ) throws(SQLiteFailure) -> JournalContents.Session? {
    let row = record.row
    var session = JournalContents.Session(handle: row.handle)
    session.owner = row.owner
    session.deadline = row.deadline
    session.continuesAlone = row.continuesAlone
    session.bytes = row.usedBytes
    record.isLoaded = true
    do {
      var sequences = try readSequences(record.id)
      guard stores.count == row.storeCount else { throw RowDamage() }
      for (storeID, storeRow) in stores.sorted(by: { $0.1.order < $1.1.order }) {
        var reader = StoreReader(
          database: database, id: storeID, row: storeRow, session: record)
        try reader.read()
        for sentence in reader.damage {
          damaged("Store \(storeRow.name) of a session: \(sentence)")
          damagedSessions.insert(row.handle)
        }
        session.stores.append(reader.store)
        record.stores[ByteString(storeRow.name)] = reader.record
        for (frontend, last) in reader.sequences where last > sequences[frontend] ?? .min {
          sequences[frontend] = last
          record.unwritten[frontend] = last
        }
      }
      for (frontend, last) in sequences { session.sequences.append((frontend.string, last)) }
      return session
    } catch let failure as SQLiteFailure where !failure.isDamage {
      throw failure
    } catch {
      // Without its sequences an input could be applied twice, and without its stores one revision
      // could stand for two states.
      damaged("A session cannot be read completely: it has ended.")
      damagedSessions.insert(row.handle)
      return nil
    }
  }

  private func readSequences(_ session: Int64) throws -> [ByteString: Int] {
    var sequences: [ByteString: Int] = [:]
    let rows = try database.rows(.sequences, .integer(session))
    if rows.failure != nil { throw RowDamage() }
    for row in rows.found {
      let last = try SequenceRow.last(row.data, row.key, session)
      sequences[ByteString(String(decoding: row.key, as: UTF8.self))] = last
    }
    return sequences
  }

  /// Returns the rows of a table that can be read, and reports damage.
  private mutating func rows(
    _ what: String, _ statement: JournalStatement, _ value: JournalDatabase.Value? = nil
  ) throws(SQLiteFailure) -> [JournalDatabase.Row] {
    let rows =
      if let value {
        try database.rows(statement, value)
      } else {
        try database.rows(statement)
      }
    if rows.failure != nil {
      damaged("The \(what) in the session journal cannot be read completely.")
    }
    return rows.found
  }

  private mutating func damaged(_ sentence: String) { contents.damage.append(sentence) }
}
