// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import SQLiteFiles

/// The numbers that define the order of the todos in a list, with gaps between them.
///
/// A new todo gets a number between those of its neighbours, so that no other row changes. If there
/// is no such number, the smallest neighbourhood with enough free numbers is spread evenly.
struct TodoPositions {
  private let db: GRDB.Database
  private let list: Int64

  init(_ list: StoredList) {
    db = list.db
    self.list = list.id
  }

  /// Returns a number that places a todo before another one; nil: at the end.
  ///
  /// - Parameter other: The id of an existing todo.
  func free(before other: String?) throws -> Int64 {
    if let free = try number(before: other) { return free }
    try spreadNeighbourhood(before: other.flatMap(position(of:)))
    guard let free = try number(before: other) else {
      // Possible only with more todos than fit on any disk.
      throw DatabaseError(resultCode: .SQLITE_FULL)
    }
    return free
  }

  private func number(before other: String?) throws -> Int64? {
    let above = try other.flatMap(position(of:))
    return try Gap.between(lastPosition(before: above), above)
  }

  /// Moves a todo before another one; nil: to the end.
  ///
  /// - Returns: True if the list has changed: both todos exist, and the order is different.
  func move(_ id: String, before other: String?) throws -> Bool {
    guard let from = try position(of: id) else { return false }
    let above = try other.flatMap(position(of:))
    guard (other == nil) == (above == nil) else { return false }
    guard try from != above && from != lastPosition(before: above) else { return false }
    let to = try free(before: other)
    // Read again, because making room may have moved the todo.
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
  /// A wider neighbourhood must have larger gaps, so that the narrow neighbourhoods in it can fill
  /// up again before the wider one is spread again. Repeated insertion at one place moves O(log² n)
  /// rows per insertion, as in the usual list-order maintenance (Bender et al., "Two Simplified
  /// Algorithms for Maintaining Order in a List", 2002).
  private func spreadNeighbourhood(before above: Int64?) throws {
    var radius = 16
    var sufficientStep: UInt64 = 1 << 16
    while true {
      // One more on either side: the neighbours that keep their positions.
      var lower = try db.numbers(.before, [list, above ?? .max, radius + 1])
      var upper = try above.map { try db.numbers(.from, [list, $0, radius + 1]) } ?? []
      let low = lower.count > radius ? lower.removeLast() : nil
      let high = upper.count > radius ? upper.removeLast() : nil
      let old = lower.reversed() + upper
      let spread = Gap.spread(old.count, between: low, high)
      if spread.step >= sufficientStep || (low == nil && high == nil) {
        return try move(old, to: spread.positions)
      }
      radius *= 4
      sufficientStep *= 2
    }
  }

  /// Moves todos to new positions in the same order.
  private func move(_ old: [Int64], to new: [Int64]) throws {
    // No two rows may share a position at any time. Increasing positions are set from last to
    // first, then decreasing ones from first to last, so that each target is free.
    let moves = zip(old, new)
    for (old, new) in moves.reversed() where new > old { try set(old, to: new) }
    for (old, new) in moves where new < old { try set(old, to: new) }
  }
}
