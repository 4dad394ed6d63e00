// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// Writes the entries of one turn, or of several, as one transaction.
///
/// Entries of unknown sessions and stores are ignored: they have ended, and their data is not
/// needed.
final class JournalTurn {
  let database: JournalDatabase
  private let index: JournalIndex
  /// The stores that this turn changes, in the order of their first change.
  private var stores: [JournaledStore] = []
  private var sessions: [JournaledSession] = []
  /// Reverts the changes of the index, last first, if the transaction fails.
  private var undo: [() -> Void] = []

  init(database: JournalDatabase, index: JournalIndex) {
    self.database = database
    self.index = index
  }

  /// Writes the entries.
  ///
  /// - Throws: `SQLiteFailure`; nothing has been written in that case.
  func write(_ entries: [JournalEntry]) throws(SQLiteFailure) {
    defer {
      for store in stores { store.reset() }
      for session in sessions { session.sequences.removeAll() }
    }
    do {
      try database.run(.begin)
      for entry in entries { try take(entry) }
      try finish()
      // The last step before the commit, so that whatever is acknowledged is in a file that the
      // next process finds.
      try database.checkFiles()
      try database.run(.commit)
    } catch {
      // Some failures end the transaction; the rollback then fails and changes nothing.
      try? database.run(.rollback)
      for action in undo.reversed() { action() }
      throw error
    }
  }

  private func take(_ entry: JournalEntry) throws(SQLiteFailure) {
    switch entry.event {
    case .opened(let owner):
      if let old = try index.session(entry.session) { try remove(old) }
      let record = JournaledSession(
        id: index.newSessionID(), row: SessionRow(handle: entry.session, owner: owner),
        isLoaded: true)
      index.sessions[entry.session] = record
      undo.append { [index] in index.sessions[entry.session] = nil }
      try put(record)
      return
    case .ended:
      guard let session = index.sessions[entry.session] else { return }
      try remove(session)
      try noteEnded(session)
    case .expires(let deadline):
      guard let session = index.sessions[entry.session] else { return }
      change(session) { $0.deadline = deadline }
      try put(session)
    case .alone(let continues, let bytes):
      guard let session = index.sessions[entry.session] else { return }
      change(session) { ($0.continuesAlone, $0.usedBytes) = (continues, bytes) }
      try put(session)
    case .sequence(let frontend, let last, let store):
      guard let session = index.sessions[entry.session] else { return }
      if session.sequences.isEmpty { sessions.append(session) }
      session.sequences.append((frontend, last, store))
    case .keptAside(let kept):
      try keep(kept)
    case .keptRemoved(let key):
      try removeKept(key)
    case .store(let name, let event):
      guard let session = index.sessions[entry.session] else { return }
      assert(session.isLoaded, "an entry belongs to a session that is not loaded")
      var store = session.stores[ByteString(name)]
      if case .opened = event, store == nil { store = try newStore(name, in: session) }
      guard let store else { return }
      touch(store)
      try take(event, store, name)
    }
  }

  private func take(
    _ event: JournalEntry.StoreEvent, _ store: JournaledStore, _ name: String
  ) throws(SQLiteFailure) {
    switch event {
    case .opened(let kind, let configuration, let revision, let version, let renewal):
      try open(store, name, kind, configuration, revision)
      (store.mark.version, store.mark.renewal) = (version, renewal)
    case .renewed(let revision, let version, let renewal):
      (store.mark.version, store.mark.renewal) = (version, renewal)
      (store.mark.opened, store.mark.revision) = (revision, revision)
      store.mark.trimmed = revision
      store.isMarkNew = true
      store.cleaning = max(store.cleaning, .remove)
    case .closed:
      try removeRows(store)
      store.mark.isClosed = true
      store.isMarkNew = true
    case .state(let state, let revision):
      if let state {
        try database.put(.putState, store.id, StateRow.bytes(state.text, store.id))
      } else if store.mark.hasState {
        try database.run(.removeState, .integer(store.id))
      }
      store.mark.hasState = state != nil
      store.mark.snapshot = store.mark.number
      store.mark.revision = revision
      store.isMarkNew = true
      store.isInOneRow = false
      store.cleaning = max(store.cleaning, .remove)
      // The state now contains the inputs. Their sequences must not depend on rows that are removed
      // because the state replaces them.
      try keepSequences(store.session)
    case .step(let patch, let revision, let frame):
      store.mark.revision = revision
      guard patch != nil || frame != nil else {
        store.isMarkNew = true
        return
      }
      StepRow.write(StepRow.Step(patch: patch, revision: revision, frame: frame), to: &store.steps)
      store.stepCount += 1
      if frame != nil { store.lastUpdate = revision }
      store.mark.number += 1
      if store.steps.bytes.count >= StepRow.fullAt {
        try writeSteps(store)
        store.isInOneRow = false
      }
    case .redacted(let revision):
      store.mark.redacted = max(store.mark.redacted, revision)
      store.mark.trimmed = max(store.mark.trimmed, revision)
      store.isMarkNew = true
      store.cleaning = .strip
    case .trimmed(let revision):
      store.mark.trimmed = max(store.mark.trimmed, revision)
      store.isMarkNew = true
      store.cleaning = max(store.cleaning, .remove)
    case .accepted(let operation, let epoch, let input, let at):
      store.acceptedCount += 1
      store.accepted.append(
        AcceptedRow(
          operation: operation, epoch: epoch, order: store.acceptedCount, input: input, at: at))
      store.mark.operation = max(store.mark.operation, operation)
    case .numbered(let operation, let frontend, let sequence):
      try number(operation, (frontend, sequence), store)
    case .settled(let operation):
      if let position = store.accepted.firstIndex(where: { $0.operation == operation }) {
        store.accepted.remove(at: position)
      } else {
        try database.run(
          .removeAccepted, .integer(store.id), .integer(Int64(bitPattern: operation)))
      }
      if operation == store.mark.operation, operation > store.writtenOperation {
        store.isOperationLoose = true
      }
    }
  }

  private func number(
    _ operation: UInt64, _ numbered: (frontend: String, sequence: Int), _ store: JournaledStore
  ) throws(SQLiteFailure) {
    if let position = store.accepted.firstIndex(where: { $0.operation == operation }) {
      store.accepted[position].numbered = numbered
      return
    }
    let key = Int64(bitPattern: operation)
    let rows = try database.rows(.oneAccepted, .integer(store.id), .integer(key))
    let found = rows.found.first.flatMap { try? AcceptedRow($0.data, store.id, key) }
    guard var found else { return }
    found.numbered = numbered
    try put(found, store)
  }

  /// Ends sessions that are not loaded.
  ///
  /// - Throws: `SQLiteFailure`; nothing has been written in that case.
  func end(_ expired: [JournaledSession]) throws(SQLiteFailure) {
    defer { for store in stores { store.reset() } }
    do {
      try database.run(.begin)
      for session in expired {
        try remove(session)
        try noteEnded(session)
      }
      try database.checkFiles()
      try database.run(.commit)
    } catch {
      try? database.run(.rollback)
      for action in undo.reversed() { action() }
      throw error
    }
  }

  private func noteEnded(_ session: JournaledSession) throws(SQLiteFailure) {
    index.lastEnded += 1
    try database.put(
      EndedRow(handle: session.row.handle, owner: session.row.owner), index.lastEnded)
    try database.run(.removeEnded, .integer(index.lastEnded - SQLiteJournal.endedCount))
  }

  // MARK: Sessions and stores

  private func newStore(
    _ name: String, in session: JournaledSession
  ) throws(SQLiteFailure) -> JournaledStore {
    let id = try index.newStoreID()
    let store = JournaledStore(
      id: id, session: session, mark: StoreMark(order: session.row.storeCount))
    session.stores[ByteString(name)] = store
    undo.append { session.stores[ByteString(name)] = nil }
    change(session) { $0.add(store: id) }
    try put(session)
    return store
  }

  private func open(
    _ store: JournaledStore, _ name: String, _ kind: String, _ configuration: [UInt8],
    _ revision: Revision
  ) throws(SQLiteFailure) {
    try removeRows(store)
    var mark = StoreMark(order: store.mark.order)
    mark.number = store.mark.number
    mark.snapshot = store.mark.number
    mark.operation = store.mark.operation
    mark.opened = revision
    mark.revision = revision
    store.mark = mark
    store.isMarkNew = true
    let row = StoreRow(
      session: store.session.id, order: mark.order, name: name, kind: kind,
      configuration: configuration)
    try database.put(.putStore, store.id, row.bytes(store.id))
  }

  /// Keeps a state aside, in place of an earlier one of the same store and revision.
  private func keep(_ kept: KeptState) throws(SQLiteFailure) {
    let known = index.kept[kept.key]
    let id = known ?? index.lastKept + 1
    if known == nil {
      let last = index.lastKept
      (index.kept[kept.key], index.lastKept) = (id, id)
      undo.append { [index] in (index.kept[kept.key], index.lastKept) = (nil, last) }
    }
    try database.put(.putKept, id, KeptRow(kept).bytes(id))
    try database.put(.putKeptState, id, KeptStateRow.bytes(kept.state, id))
  }

  private func removeKept(_ key: KeptState.Key) throws(SQLiteFailure) {
    guard let id = index.kept.removeValue(forKey: key) else { return }
    undo.append { [index] in index.kept[key] = id }
    try database.run(.removeKept, .integer(id))
    try database.run(.removeKeptState, .integer(id))
  }

  /// Removes all rows of a store except its name and its mark.
  private func removeRows(_ store: JournaledStore) throws(SQLiteFailure) {
    store.discard()
    try keepSequences(store.session)
    let ids = store.stepIDs
    try database.run(.removeSteps, .integer(ids.lowerBound), .integer(ids.upperBound))
    try database.run(.removeAllAccepted, .integer(store.id))
    try database.run(.removeState, .integer(store.id))
    store.stepRows = nil
    store.mark.hasState = false
    store.mark.snapshot = store.mark.number
  }

  private func remove(_ session: JournaledSession) throws(SQLiteFailure) {
    // The ids of the stores are sufficient; nothing else is known if the session is not loaded.
    let stores =
      session.isLoaded
      ? Array(session.stores.values)
      : session.row.stores.map {
        JournaledStore(id: $0, session: session, mark: StoreMark(order: 0))
      }
    for store in stores {
      touch(store)
      try removeRows(store)
      try database.run(.removeMark, .integer(store.id))
      try database.run(.removeStore, .integer(store.id))
      store.isGone = true
      undo.append { store.isGone = false }
    }
    let handle = session.row.handle
    session.sequences.removeAll()
    try database.run(.removeSequences, .integer(session.id))
    try database.run(.removeSession, .integer(session.id))
    guard index.sessions[handle] === session else { return }
    index.sessions[handle] = nil
    undo.append { [index] in index.sessions[handle] = session }
  }

  private func put(_ session: JournaledSession) throws(SQLiteFailure) {
    try database.put(session.row, session.id)
  }

  private func change(_ session: JournaledSession, _ body: (inout SessionRow) -> Void) {
    let row = session.row
    undo.append { session.row = row }
    body(&session.row)
  }

  /// Records the state of a store before its first change in this turn.
  private func touch(_ store: JournaledStore) {
    guard !store.isTouched else { return }
    store.isTouched = true
    stores.append(store)
    let (mark, operation) = (store.mark, store.writtenOperation)
    undo.append {
      store.mark = mark
      store.writtenOperation = operation
      store.stepRows = nil
    }
  }

  // MARK: The end of the turn

  private func finish() throws(SQLiteFailure) {
    for session in sessions { try writeSequences(session) }
    for store in stores where !store.isGone {
      if store.isOperationLoose {
        if store.stepCount > 0 {
          store.notes.append(.operation(store.mark.operation))
        } else {
          store.isMarkNew = true
        }
      }
      if store.stepCount > 0 { try writeSteps(store) }
      for row in store.accepted { try put(row, store) }
      try clean(store)
      if store.isMarkNew {
        try database.put(.putMark, store.id, store.mark.bytes(store.id))
        store.writtenOperation = store.mark.operation
      }
    }
  }

  private func put(_ row: AcceptedRow, _ store: JournaledStore) throws(SQLiteFailure) {
    try database.run(
      .putAccepted, .integer(store.id), .integer(Int64(bitPattern: row.operation)),
      .blob(row.bytes(store.id)))
  }

  /// Writes the sequences of this turn.
  ///
  /// If the row of an input's step contains everything about the input, the sequence goes into that
  /// row, so that both are kept or both are lost. Otherwise it gets its own row.
  private func writeSequences(_ session: JournaledSession) throws(SQLiteFailure) {
    let unwritten = session.unwritten
    undo.append { session.unwritten = unwritten }
    for (frontend, last, name) in session.sequences {
      let store = name.flatMap { session.stores[ByteString($0)] }
      if let store, store.stepCount > 0, store.isInOneRow {
        store.notes.append(.sequence(frontend: frontend, last: last))
        session.unwritten[ByteString(frontend)] = last
      } else {
        try put(last, of: frontend, session)
        session.unwritten[ByteString(frontend)] = nil
      }
    }
  }

  private func put(
    _ last: Int, of frontend: String, _ session: JournaledSession
  ) throws(SQLiteFailure) {
    let name = Array(frontend.utf8)
    try database.run(
      .putSequence, .integer(session.id), .blob(name),
      .blob(SequenceRow.bytes(last, name, session.id)))
  }

  /// Writes the sequences that only rows of `step` contain to their own rows, before such rows are
  /// removed.
  func keepSequences(_ session: JournaledSession) throws(SQLiteFailure) {
    guard !session.unwritten.isEmpty else { return }
    let unwritten = session.unwritten
    undo.append { session.unwritten = unwritten }
    for (frontend, last) in unwritten { try put(last, of: frontend.string, session) }
    session.unwritten.removeAll()
  }

  private func writeSteps(_ store: JournaledStore) throws(SQLiteFailure) {
    let id = store.stepID
    try database.put(
      .putStep, id, StepRow.bytes(store.steps, count: store.stepCount, notes: store.notes, id))
    store.stepRows?.append(JournaledStore.WrittenRow(id: id, lastUpdate: store.lastUpdate))
    store.clearNextRow()
  }
}
