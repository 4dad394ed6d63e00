// SPDX-License-Identifier: Apache-2.0

internal import Sessions

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
