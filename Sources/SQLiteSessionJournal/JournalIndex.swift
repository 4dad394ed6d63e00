// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// What the journal has written down, as far as it has to know to write on.
final class JournalIndex {
  var sessions: [SessionHandle: JournalledSession] = [:]
  private var lastSession: Int64 = 0
  private var storeIDs: Set<Int64> = []
  private var lastStore: Int64 = 0
  private let maximumStoreID: Int64
  var lastEnded: Int64 = 0

  init(maximumStoreID: Int64 = StepRow.maximumStoreID) { self.maximumStoreID = maximumStoreID }

  /// An id that no session ever had.
  func newSessionID() -> Int64 {
    lastSession += 1
    return lastSession
  }

  /// An id that no store has.
  /// - Throws: `SQLiteFailure.full` if all are taken.
  func newStoreID() throws(SQLiteFailure) -> Int64 {
    guard storeIDs.count < maximumStoreID else { throw .full }
    repeat {
      lastStore = lastStore % maximumStoreID + 1
    } while !storeIDs.insert(lastStore).inserted
    return lastStore
  }

  func free(store id: Int64) { storeIDs.remove(id) }

  /// Ids that are in the file.
  func found(session id: Int64) { lastSession = max(lastSession, id) }

  func found(store id: Int64) {
    storeIDs.insert(id)
    lastStore = max(lastStore, id)
  }
}
