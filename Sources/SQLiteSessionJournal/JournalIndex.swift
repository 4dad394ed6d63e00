// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The loaded sessions and the last ids, which later transactions need.
final class JournalIndex {
  /// The loaded sessions.
  var sessions: [SessionHandle: JournaledSession] = [:]
  private var lastSession: Int64 = 0
  private var lastStore: Int64 = 0
  private let maximumStoreID: Int64
  var lastEnded: Int64 = 0
  /// True if the last ids cannot be read: the file has to be replaced.
  private(set) var isDamaged = false
  /// The ids of the states that are kept aside.
  var kept: [KeptState.Key: Int64] = [:]
  var lastKept: Int64 = 0
  /// The sessions with unsettled inputs when the journal was opened, in order; nil before they were
  /// read.
  var working: [Int64]?

  /// The connection to the file, which changes when a damaged file is replaced.
  var database: JournalDatabase

  init(
    _ database: JournalDatabase, maximumStoreID: Int64 = StepRow.maximumStoreID
  ) throws(SQLiteFailure) {
    self.database = database
    self.maximumStoreID = maximumStoreID
    do throws(SQLiteFailure) {
      lastSession = try database.number("SELECT coalesce(max(id), 0) FROM session")
      lastStore = try database.number("SELECT coalesce(max(id), 0) FROM store")
      lastEnded = try database.number("SELECT coalesce(max(id), 0) FROM ended")
    } catch {
      guard error.isDamage else { throw error }
      isDamaged = true
    }
  }

  /// Returns an id that no session has had.
  func newSessionID() -> Int64 {
    lastSession += 1
    return lastSession
  }

  /// Returns an id that no store has.
  ///
  /// - Throws: `SQLiteFailure.full` if all ids are taken.
  /// - Complexity: O(1) until all ids were used once; then amortised over the ids.
  func newStoreID() throws(SQLiteFailure) -> Int64 {
    for _ in 0..<maximumStoreID {
      lastStore = lastStore % maximumStoreID + 1
      let found = try database.rows(.store, .integer(lastStore))
      if let failure = found.failure { throw failure }
      if found.found.isEmpty { return lastStore }
    }
    throw .full
  }

  /// Returns a session, also one that is not loaded; nil if there is none.
  func session(_ handle: SessionHandle) throws(SQLiteFailure) -> JournaledSession? {
    if let known = sessions[handle] { return known }
    let found = try database.rows(.sessionOf, .blob(handle.bytes))
    if let failure = found.failure { throw failure }
    guard let first = found.found.first else { return nil }
    guard let row = try? SessionRow(first.data, first.id), row.handle == handle else {
      throw .damage
    }
    return JournaledSession(id: first.id, row: row, isLoaded: false)
  }

  /// Returns a session that has ended; nil if it is not known.
  func ended(_ handle: SessionHandle) throws(SQLiteFailure) -> LoadedSession.Ended? {
    let found = try database.rows(.endedOf, .blob(handle.bytes)).found.first
    guard let found, let row = try? EndedRow(found.data, found.id), row.handle == handle else {
      return nil
    }
    return LoadedSession.Ended(owner: row.owner)
  }
}
