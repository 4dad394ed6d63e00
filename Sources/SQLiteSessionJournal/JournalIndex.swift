// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The sessions, stores and ids in the journal that a later transaction needs.
final class JournalIndex {
  var sessions: [SessionHandle: JournalledSession] = [:]
  private var lastSession: Int64 = 0
  private var storeIDs: Set<Int64> = []
  private var lastStore: Int64 = 0
  private let maximumStoreID: Int64
  var lastEnded: Int64 = 0
  /// The ids of the states that are kept aside.
  var kept: [KeptState.Key: Int64] = [:]
  var lastKept: Int64 = 0

  init(maximumStoreID: Int64 = StepRow.maximumStoreID) { self.maximumStoreID = maximumStoreID }

  /// Returns an id that no session has had.
  func newSessionID() -> Int64 {
    lastSession += 1
    return lastSession
  }

  /// Returns an id that no store has.
  ///
  /// - Throws: `SQLiteFailure.full` if all ids are taken.
  func newStoreID() throws(SQLiteFailure) -> Int64 {
    guard storeIDs.count < maximumStoreID else { throw .full }
    repeat {
      lastStore = lastStore % maximumStoreID + 1
    } while !storeIDs.insert(lastStore).inserted
    return lastStore
  }

  /// Makes the id of a removed store available again.
  func free(store id: Int64) { storeIDs.remove(id) }

  /// Records the id of a session in the file.
  func found(session id: Int64) { lastSession = max(lastSession, id) }

  /// Records the id of a store in the file.
  func found(store id: Int64) {
    storeIDs.insert(id)
    lastStore = max(lastStore, id)
  }
}
