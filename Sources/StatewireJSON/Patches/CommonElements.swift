// SPDX-License-Identifier: Apache-2.0

/// Finds the elements that two arrays have in common, in the same order.
enum CommonElements {
  /// Consecutive elements that are the same in both arrays.
  struct Run: Equatable {
    var old: Int
    var new: Int
    var count: Int
  }

  /// The most removals and insertions between the common beginning and end for which the shortest
  /// edit script is searched. The cost grows with this number times the length.
  static let maximumEdits = 64

  /// The most comparisons per element of both arrays.
  ///
  /// Arrays with repeated elements match at many offsets. Without this bound they would be compared
  /// once for each offset that `maximumEdits` allows.
  private static let maximumComparisons = 4

  /// Finds the runs in order: the common beginning, the common end, and common elements between
  /// them.
  ///
  /// - Complexity: one pass over the common ends, and at most `maximumComparisons` × (elements
  ///   between them + `maximumEdits`) comparisons.
  static func find(_ oldCount: Int, _ newCount: Int, _ areSame: (Int, Int) -> Bool) -> [Run] {
    let limit = min(oldCount, newCount)
    var start = 0
    while start < limit, areSame(start, start) { start += 1 }
    var end = 0
    while end < limit - start, areSame(oldCount - end - 1, newCount - end - 1) { end += 1 }

    var runs: [Run] = []
    if start > 0 { runs.append(Run(old: 0, new: 0, count: start)) }
    let (oldRest, newRest) = (oldCount - start - end, newCount - start - end)
    // The common ends are already removed, so two single elements have nothing in common.
    if oldRest > 0, newRest > 0, oldRest + newRest > 2 {
      for run in between(oldRest, newRest, { areSame(start + $0, start + $1) }) {
        runs.append(Run(old: start + run.old, new: start + run.new, count: run.count))
      }
    }
    if end > 0 { runs.append(Run(old: oldCount - end, new: newCount - end, count: end)) }
    return runs
  }

  /// Returns the runs of a longest common subsequence; none if that exceeds `maximumEdits` or the
  /// bound on comparisons.
  private static func between(
    _ oldCount: Int, _ newCount: Int, _ areSame: (Int, Int) -> Bool
  ) -> [Run] {
    // furthest[d][k + d] is the furthest position in the old array that d edits reach on diagonal k
    // = old - new.
    var furthest: [[Int]] = []
    var comparisons = maximumComparisons * (oldCount + newCount + maximumEdits)
    for edits in 0...min(oldCount + newCount, maximumEdits) {
      var row = [Int](repeating: 0, count: 2 * edits + 1)
      for diagonal in stride(from: -edits, through: edits, by: 2) {
        var old = step(furthest.last, edits, diagonal).old
        while old < oldCount, old - diagonal < newCount, old - diagonal >= 0,
          areSame(old, old - diagonal)
        {
          old += 1
          comparisons -= 1
        }
        comparisons -= 1
        if comparisons < 0 { return [] }
        row[diagonal + edits] = old
        if old >= oldCount && old - diagonal >= newCount {
          return trace(furthest + [row], oldCount, newCount)
        }
      }
      furthest.append(row)
    }
    return []
  }

  /// Returns the position that one more edit reaches on a diagonal: by a removal from the diagonal
  /// below or an insertion from the one above.
  private static func step(
    _ previous: [Int]?, _ edits: Int, _ diagonal: Int
  ) -> (old: Int, from: Int) {
    guard let previous else { return (0, 0) }
    func reached(_ diagonal: Int) -> Int {
      abs(diagonal) < edits ? previous[diagonal + edits - 1] : -1
    }
    let removed = reached(diagonal - 1) + 1
    let inserted = reached(diagonal + 1)
    return abs(diagonal - 1) < edits && removed > inserted
      ? (removed, diagonal - 1) : (inserted, diagonal + 1)
  }

  /// Follows the path backwards and collects the diagonal steps, which are the runs.
  private static func trace(_ furthest: [[Int]], _ oldCount: Int, _ newCount: Int) -> [Run] {
    var runs: [Run] = []
    var diagonal = oldCount - newCount
    var old = oldCount
    for edits in stride(from: furthest.count - 1, through: 0, by: -1) {
      let (start, from) = step(edits > 0 ? furthest[edits - 1] : nil, edits, diagonal)
      if old > start {
        runs.append(Run(old: start, new: start - diagonal, count: old - start))
      }
      guard edits > 0 else { break }
      diagonal = from
      old = furthest[edits - 1][from + edits - 1]
    }
    return runs.reversed()
  }
}
