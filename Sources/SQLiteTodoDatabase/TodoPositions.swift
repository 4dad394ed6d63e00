// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import SQLiteFiles

/// The numbers that keep the todos of a list in order, with room between them.
///
/// A new todo takes a number between its neighbours', so that no other row is touched. Where there
/// is none left, the smallest neighbourhood that has room enough is spread evenly.
struct TodoPositions {
  private let db: GRDB.Database
  private let list: Int64

  init(_ list: StoredList) {
    db = list.db
    self.list = list.id
  }

  /// A number that puts a todo before another one (nil: at the end).
  ///
  /// - Parameter other: The id of a todo that is there.
  func free(before other: String?) throws -> Int64 {
    if let free = try room(before: other) { return free }
    try makeRoom(before: other.flatMap(position(of:)))
    guard let free = try room(before: other) else {
      // A list would have to have more todos than fit on any disk.
      throw DatabaseError(resultCode: .SQLITE_FULL)
    }
    return free
  }

  private func room(before other: String?) throws -> Int64? {
    let above = try other.flatMap(position(of:))
    return try Gap.between(lastPosition(before: above), above)
  }

  /// Moves a todo before another one (nil: to the end).
  ///
  /// - Returns: Whether anything has changed: both are there, and it stood somewhere else.
  func move(_ id: String, before other: String?) throws -> Bool {
    guard let from = try position(of: id) else { return false }
    let above = try other.flatMap(position(of:))
    guard (other == nil) == (above == nil) else { return false }
    guard try from != above && from != lastPosition(before: above) else { return false }
    let to = try free(before: other)
    // Again, since making room may have moved it.
    guard let from = try position(of: id) else { return false }
    try set(from, to: to)
    return true
  }

  private func position(of id: String) throws -> Int64? {
    try db.number(.position, [list, id.blob])
  }

  private func lastPosition(before above: Int64?) throws -> Int64? {
    if let above {
      try db.number(.lastBefore, [list, above])
    } else {
      try db.number(.last, [list])
    }
  }

  private func set(_ old: Int64, to new: Int64) throws {
    try db.run(.setPosition, [list, old, new])
  }

  /// Spreads the neighbourhood of a place.
  ///
  /// A wider neighbourhood must have more room for each todo, so that the narrow ones inside it can
  /// fill up again before it is its turn: inserting at one place for ever moves O(log² n) rows per
  /// insertion, as in the usual list-order maintenance (Bender et al., "Two Simplified Algorithms
  /// for Maintaining Order in a List", 2002).
  private func makeRoom(before above: Int64?) throws {
    var radius = 16
    var roomy: UInt64 = 1 << 16
    while true {
      // One more on either side: the neighbours that stay where they are.
      var lower = try db.numbers(.before, [list, above ?? .max, radius + 1])
      var upper = try above.map { try db.numbers(.from, [list, $0, radius + 1]) } ?? []
      let low = lower.count > radius ? lower.removeLast() : nil
      let high = upper.count > radius ? upper.removeLast() : nil
      let old = lower.reversed() + upper
      let spread = Gap.spread(old.count, between: low, high)
      if spread.step >= roomy || (low == nil && high == nil) {
        return try move(old, to: spread.positions)
      }
      radius *= 4
      roomy *= 2
    }
  }

  /// Moves todos to new places in the same order.
  private func move(_ old: [Int64], to new: [Int64]) throws {
    // No two rows may share a position on the way: those that rise go last to first, then those
    // that fall first to last, and each finds its place empty.
    let moves = zip(old, new)
    for (old, new) in moves.reversed() where new > old { try set(old, to: new) }
    for (old, new) in moves where new < old { try set(old, to: new) }
  }
}
