// SPDX-License-Identifier: Apache-2.0

internal import Sessions

// Rows of `step` that are no longer needed: neither for the state nor for updates that clients miss.
extension JournalTurn {
  /// Removes the rows that are not needed.
  func clean(_ store: JournaledStore) throws(SQLiteFailure) {
    guard store.cleaning > .none else { return }
    let (mark, first) = (store.mark, store.stepIDs.lowerBound)
    var rows =
      if store.cleaning == .remove, let known = store.stepRows { known } else { try read(store) }
    // So that the removal does not copy the rows.
    store.stepRows = nil
    var needless: [Int64] = []
    rows.removeAll { row in
      let hasPatches = mark.hasState && row.id - first > mark.snapshot
      let hasUpdates = row.lastUpdate.map { $0 > mark.trimmed } ?? false
      if hasPatches || hasUpdates { return false }
      needless.append(row.id)
      return true
    }
    store.stepRows = rows
    guard !needless.isEmpty else { return }
    try keepSequences(store.session)
    for id in needless { try database.run(.removeStep, .integer(id)) }
    // The removed rows contained the revision and the last operation.
    store.isMarkNew = true
  }

  /// Reads the rows of a store, and removes redacted updates from them if the cleaning includes that.
  ///
  /// A row that cannot be read is left out and stays, so that the next load reports it.
  private func read(
    _ store: JournaledStore
  ) throws(SQLiteFailure) -> [JournaledStore.WrittenRow] {
    let (ids, trimmed, strips) = (store.stepIDs, store.mark.trimmed, store.cleaning == .strip)
    var rows: [JournaledStore.WrittenRow] = []
    var stripped: [(id: Int64, row: StepRow)] = []
    _ = try database.read(.steps, [.integer(ids.lowerBound), .integer(ids.upperBound)]) { found in
      guard var row = try? StepRow(found.data, found.id) else { return true }
      if strips, row.strip(upTo: trimmed) { stripped.append((found.id, row)) }
      let lastUpdate = row.steps.last { $0.frame != nil }?.revision
      rows.append(JournaledStore.WrittenRow(id: found.id, lastUpdate: lastUpdate))
      return true
    }
    for (id, row) in stripped { try database.put(.putStep, id, row.bytes(id)) }
    return rows
  }
}
