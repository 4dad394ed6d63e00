// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// A row of `kept`: a state that is kept aside, without its text.
struct KeptRow {
  /// The state; its text is empty.
  let kept: KeptState
  /// The length of its text.
  let byteCount: Int

  init(_ kept: KeptState) {
    var kept = kept
    byteCount = kept.state.count
    kept.state = []
    self.kept = kept
  }

  func bytes(_ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.text(kept.session.description.utf8)
    row.optional(kept.owner?.utf8)
    row.text(kept.store.utf8)
    row.text(kept.kind.utf8)
    row.text(kept.configuration)
    row.integer(kept.version)
    row.integer(kept.revision)
    row.text(kept.reason.utf8)
    row.time(kept.time)
    row.integer(byteCount)
    return row.sealed(RowKey(.putKept, id))
  }

  init(_ data: [UInt8], _ id: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putKept, id))
    guard let session = SessionHandle(try row.text()) else { throw RowDamage() }
    let owner = try row.optionalText()
    kept = KeptState(
      session: session, owner: owner, store: try row.text(), kind: try row.text(),
      configuration: try row.bytes(), version: try row.integer(), revision: try row.integer(),
      state: [], reason: try row.text(), time: try row.time())
    byteCount = try row.integer()
  }
}

/// A row of `keptstate`.
enum KeptStateRow {
  static func bytes(_ state: [UInt8], _ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.text(state)
    return row.sealed(RowKey(.putKeptState, id))
  }

  static func state(_ data: [UInt8], _ id: Int64) throws(RowDamage) -> [UInt8] {
    var row = try RowReader(data, RowKey(.putKeptState, id))
    return try row.bytes()
  }
}

extension RowWriter {
  /// Appends the reason why a store does not continue its earlier revisions.
  mutating func renewal(_ renewal: StoreRenewal) {
    switch renewal {
    case .opened: number(0)
    case .migrated: number(1)
    case .restored: number(2)
    case .unreadable(let revision, let reason):
      number(3)
      integer(revision)
      text(reason.utf8)
    }
  }
}

extension RowReader {
  /// Reads what `RowWriter.renewal` has appended.
  mutating func renewal() throws(RowDamage) -> StoreRenewal {
    switch try number() {
    case 0: .opened
    case 1: .migrated
    case 2: .restored
    case 3: .unreadable(revision: try integer(), reason: try text())
    default: throw RowDamage()
    }
  }
}
