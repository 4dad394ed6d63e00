// SPDX-License-Identifier: Apache-2.0

internal import Sessions

// Rows of `step` that are no longer needed: neither for the state nor for updates that clients miss.
extension JournalTurn {
  /// Removes the rows that are not needed.
  func clean(_ store: JournaledStore) throws(SQLiteFailure) {
    switch store.cleaning {
    case .none: return
    case .remove: break
    case .strip: try strip(store)
    }
    let (mark, first) = (store.mark, store.stepIDs.lowerBound)
    var rows = if let known = store.stepRows { known } else { try writtenRows(store) }
    // So that the removal does not copy the rows.
    store.stepRows = nil
    var needless: [Int64] = []
    rows.removeAll { row in
      let hasPatches = mark.hasState && row.id - first > mark.snapshot
      if hasPatches || row.lastUpdate > mark.trimmed { return false }
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

  /// Reads the rows of a store. One that cannot be read is left out and stays, so that the next load
  /// reports it.
  private func writtenRows(
    _ store: JournaledStore
  ) throws(SQLiteFailure) -> [JournaledStore.WrittenRow] {
    var rows: [JournaledStore.WrittenRow] = []
    try forEachRow(of: store) { id, row in
      let lastUpdate = row.steps.last { $0.frame != nil }?.revision
      rows.append(JournaledStore.WrittenRow(id: id, lastUpdate: lastUpdate))
    }
    return rows
  }

  /// Removes redacted updates from all rows.
  private func strip(_ store: JournaledStore) throws(SQLiteFailure) {
    var stripped: [(id: Int64, row: StepRow)] = []
    let trimmed = store.mark.trimmed
    try forEachRow(of: store) { id, row in
      var row = row
      if row.strip(upTo: trimmed) { stripped.append((id, row)) }
    }
    for (id, row) in stripped { try database.put(.putStep, id, row.bytes(id)) }
    store.stepRows = nil
  }

  private func forEachRow(
    of store: JournaledStore, _ body: (Int64, StepRow) -> Void
  ) throws(SQLiteFailure) {
    let ids = store.stepIDs
    _ = try database.read(.steps, [.integer(ids.lowerBound), .integer(ids.upperBound)]) { found in
      if let row = try? StepRow(found.data, found.id) { body(found.id, row) }
      return true
    }
  }
}
