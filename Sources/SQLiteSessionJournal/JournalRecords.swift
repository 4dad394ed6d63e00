// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The data about a journaled session that later transactions need.
final class JournaledSession {
  let id: Int64
  var row: SessionRow
  /// Empty if the session is not loaded.
  var stores: [ByteString: JournaledStore] = [:]
  /// True after the session was loaded, or if this process opened it. The index has no others.
  var isLoaded: Bool
  /// Sequences that only rows of `step` contain, which are removed later.
  var unwritten: [ByteString: Int] = [:]
  /// The sequences of this turn, each with the store that has settled the input; nil if its effects
  /// have not ended.
  var sequences: [(frontend: String, last: Int, store: String?)] = []

  init(id: Int64, row: SessionRow, isLoaded: Bool) {
    self.id = id
    self.row = row
    self.isLoaded = isLoaded
  }
}

/// The data about a journaled store that later transactions need.
final class JournaledStore {
  let id: Int64
  // because the record of the session owns this object.
  unowned let session: JournaledSession
  var mark: StoreMark
  /// The highest operation that the mark on disk contains.
  var writtenOperation: UInt64

  /// The steps of this turn for the next row.
  var steps = RowWriter()
  var stepCount = 0
  /// The revision of the last update among them; nil if they have none.
  var lastUpdate: Revision?
  var notes: [StepRow.Note] = []
  /// The rows of `step`, in ascending order; nil until one may have to be removed.
  var stepRows: [WrittenRow]?
  /// True while the next row contains everything that this turn did to the store.
  var isInOneRow = true
  /// True if the last operation must be written, because no row that contains it remains.
  var isOperationLoose = false
  /// True if the mark contains changes that rows of `step` do not.
  var isMarkNew = false
  /// The rows to remove at the end of the turn.
  var cleaning = Cleaning.none
  /// True if this turn has changed the store.
  var isTouched = false
  /// True if the session has ended or was opened again.
  var isGone = false
  /// The number of inputs that were journaled since the journal was opened.
  var acceptedCount = 0
  /// The inputs that this turn accepted.
  var accepted: [AcceptedRow] = []

  /// A row of `step`, without its content.
  struct WrittenRow {
    let id: Int64
    /// The revision of its last update; nil if it has none.
    let lastUpdate: Revision?
  }

  /// The extent of the removal of rows, from least to most.
  enum Cleaning: Comparable {
    case none
    /// Remove the rows that are not needed.
    case remove
    /// As `remove`, and remove redacted updates from rows that are needed.
    case strip
  }

  init(id: Int64, session: JournaledSession, mark: StoreMark) {
    self.id = id
    self.session = session
    self.mark = mark
    writtenOperation = mark.operation
  }

  /// The ids that its rows of `step` can have.
  var stepIDs: ClosedRange<Int64> { StepRow.ids(of: id) }

  /// The id of the row for the steps so far.
  var stepID: Int64 { stepIDs.lowerBound | mark.number }

  /// Discards what this turn has not written yet.
  func discard() {
    clearNextRow()
    accepted.removeAll()
    cleaning = .none
  }

  /// Removes the steps for the next row.
  func clearNextRow() {
    steps.removeAll()
    stepCount = 0
    lastUpdate = nil
    notes.removeAll()
  }

  /// Ends the turn.
  func reset() {
    discard()
    isInOneRow = true
    isOperationLoose = false
    isMarkNew = false
    isTouched = false
  }
}
