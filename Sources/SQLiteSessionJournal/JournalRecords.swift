// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// What the journal remembers of a session that it has written down.
final class JournalledSession {
  let id: Int64
  var row: SessionRow
  /// Empty in an overview, until the session is loaded.
  var stores: [ByteString: JournalledStore] = [:]
  /// True once the session has been loaded, or was opened by this process.
  var isLoaded: Bool
  /// Sequences that are written down in rows of steps alone, which do not stay for ever.
  var unwritten: [ByteString: Int] = [:]
  /// The sequences of this turn, with the store that has taken all of the input.
  var sequences: [(frontend: String, last: Int, store: String?)] = []

  init(id: Int64, row: SessionRow, isLoaded: Bool) {
    self.id = id
    self.row = row
    self.isLoaded = isLoaded
  }
}

/// What the journal remembers of a store that it has written down.
final class JournalledStore {
  let id: Int64
  // because the session's record owns this one.
  unowned let session: JournalledSession
  var mark: StoreMark
  /// The highest operation that `mark` has on disk.
  var writtenOperation: UInt64

  /// The steps of this turn that make up the next row, and how many they are.
  var steps = RowWriter()
  var stepCount = 0
  var notes: [StepRow.Note] = []
  /// All that this turn has done is in the row that is not written yet.
  var isInOneRow = true
  /// The last operation has to be written down, and no row of it stays.
  var isOperationLoose = false
  /// The mark has changed in more than what rows of steps tell.
  var isMarkNew = false
  /// Rows may have become needless.
  var cleaning = Cleaning.none
  /// Something has been done to it in this turn.
  var isTouched = false
  /// Its session is over, or was opened again.
  var isGone = false
  /// How many inputs have been written down since the journal was opened.
  var acceptedCount = 0
  /// Inputs of this turn.
  var accepted: [AcceptedRow] = []

  enum Cleaning: Comparable {
    case none
    /// Up to the first row that is needed.
    case first
    case all
    /// Frames that may not be kept go from rows that are needed otherwise.
    case strip
  }

  init(id: Int64, session: JournalledSession, mark: StoreMark) {
    self.id = id
    self.session = session
    self.mark = mark
    writtenOperation = mark.operation
  }

  /// The ids of its rows of steps: from its first number to its last.
  var stepIDs: ClosedRange<Int64> { StepRow.ids(of: id) }

  /// The row of the steps that make it up so far.
  var stepID: Int64 { stepIDs.lowerBound | mark.number }

  /// What this turn has not written yet is not needed.
  func discard() {
    steps.removeAll()
    stepCount = 0
    notes.removeAll()
    accepted.removeAll()
    cleaning = .none
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
