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

/// Reads one store from the journal.
struct StoreReader {
  let database: JournalDatabase
  let id: Int64
  let row: StoreRow
  let session: JournaledSession
  private(set) var store: JournalContents.Store
  private(set) var record: JournaledStore
  private(set) var damage: [String] = []
  /// The sequences of frontends that rows of `step` contain.
  private(set) var sequences: [(ByteString, Int)] = []

  /// True while all patches read so far follow the state without a gap.
  private var good = true
  /// The number of the last step that was read.
  private var last: Int64 = 0

  init(database: JournalDatabase, id: Int64, row: StoreRow, session: JournaledSession) {
    self.database = database
    self.id = id
    self.row = row
    self.session = session
    store = JournalContents.Store(
      name: row.name, kind: row.kind, configuration: row.configuration, opened: 0)
    record = JournaledStore(id: id, session: session, mark: StoreMark(order: row.order))
  }

  /// Reads the store.
  ///
  /// - Throws: `RowDamage` or `SQLiteFailure` if the store could not be restored without reusing a
  ///   revision.
  mutating func read() throws {
    guard let found = try database.rows(.mark, .integer(id)).found.first else {
      throw RowDamage()
    }
    let mark = try StoreMark(found.data, id)
    record = JournaledStore(id: id, session: session, mark: mark)
    store.isClosed = mark.isClosed
    store.opened = mark.opened
    (store.version, store.renewal) = (mark.version, mark.renewal)
    store.revision = mark.revision
    store.redacted = mark.redacted
    last = mark.snapshot
    let hasState = try readState(mark)
    try readSteps(mark, hasState)
    let hasAllInputs = try readAccepted()
    store.lacksInputs = !hasAllInputs || !good
    if !good { revert(hasState) }
    if store.frames.last?.revision != store.revision { store.frames.removeAll() }
    store.frames.removeAll { $0.revision <= mark.trimmed }
    record.mark.revision = store.revision
    store.lastOperation = record.mark.operation
  }

  /// Reads the state.
  ///
  /// - Returns: True if there is a state and it could be read.
  private mutating func readState(_ mark: StoreMark) throws -> Bool {
    guard mark.hasState else { return false }
    let rows = try database.rows(.state, .integer(id)).found
    let state = rows.first.flatMap { try? StateRow.state($0.data, id) }
    store.state = state
    if state == nil { good = false }
    return state != nil
  }

  private mutating func readSteps(_ mark: StoreMark, _ hasState: Bool) throws {
    let ids = StepRow.ids(of: id)
    let rows = try database.rows(.steps, .integer(ids.lowerBound), .integer(ids.upperBound))
    let isCut = rows.failure != nil
    for found in rows.found {
      take(found.id - ids.lowerBound, try? StepRow(found.data, found.id), mark)
    }
    let end = rows.found.last.map { $0.id - ids.lowerBound } ?? 0
    if isCut {
      loseFrames()
      // The revisions after this point are unknown.
      store.revision += Self.mostSteps
    }
    // Steps that the mark counts must exist, unless the state contains them.
    if mark.hasState, isCut || last < mark.number { good = false }
    // A step raises the revision by at most one, so this revision is higher than any lost one.
    store.revision += Int(max(0, end - max(last, mark.number)))
    record.mark.number = max(end, mark.number)
  }

  private mutating func take(_ number: Int64, _ row: StepRow?, _ mark: StoreMark) {
    let isNeeded = number > mark.snapshot && mark.hasState
    guard let row else {
      loseFrames()
      if isNeeded { good = false } else { damage.append("frames cannot be read; they are lost.") }
      return
    }
    if isNeeded, number - Int64(row.steps.count) > last { good = false }
    for (offset, step) in row.steps.enumerated() {
      let stepNumber = number - Int64(row.steps.count - 1 - offset)
      if isNeeded, good, stepNumber > mark.snapshot, let patch = step.patch {
        store.patches.append(patch)
      }
      if let frame = step.frame {
        if let before = store.frames.last, before.revision + 1 != step.revision { loseFrames() }
        store.frames.append((step.revision, frame))
      } else if let before = store.frames.last, before.revision != step.revision {
        loseFrames()
      }
      store.revision = max(store.revision, step.revision)
    }
    last = max(last, number)
    for note in row.notes {
      switch note {
      case .sequence(let frontend, let last): sequences.append((ByteString(frontend), last))
      case .operation(let operation):
        record.mark.operation = max(record.mark.operation, operation)
      }
    }
  }

  /// More steps than can follow an unreadable row: about ten years at a hundred inputs per second.
  private static let mostSteps = 1 << 35

  private mutating func loseFrames() { store.frames.removeAll() }

  /// Returns the store to its last readable state, under a revision that was never used.
  private mutating func revert(_ hasState: Bool) {
    loseFrames()
    store.revision += 1
    if hasState {
      damage.append("its last changes cannot be read; it has its earlier state again.")
    } else {
      store.patches.removeAll()
      store.opened = store.revision
      store.renewal = .opened
      damage.append("its state cannot be read; it restarts with its initial state.")
    }
  }

  /// Reads the accepted inputs whose effects have not ended.
  ///
  /// - Returns: True if all could be read.
  private mutating func readAccepted() throws -> Bool {
    let found = try database.rows(.accepted, .integer(id))
    var rows: [AcceptedRow] = []
    for row in found.found {
      if let row = try? AcceptedRow(row.data, id, row.id) { rows.append(row) }
    }
    let isComplete = found.failure == nil && rows.count == found.found.count
    if !isComplete { damage.append("inputs in progress cannot be read; they are lost.") }
    rows.sort { $0.order < $1.order }
    record.acceptedCount = rows.last?.order ?? 0
    for row in rows {
      record.mark.operation = max(record.mark.operation, row.operation)
      store.accepted.append((row.operation, row.epoch, row.input, row.at))
      if let numbered = row.numbered {
        store.numbered.append((row.operation, numbered.frontend, numbered.sequence))
      }
    }
    return isComplete
  }
}
