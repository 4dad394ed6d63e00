// SPDX-License-Identifier: Apache-2.0

/// Which elements of an array are still there in the next one, in the same order.
enum CommonElements {
  /// Elements that stand in a row in both arrays.
  struct Run: Equatable {
    var old: Int
    var new: Int
    var count: Int
  }

  /// How many elements between the common ends may have come or gone for it to be worth finding the
  /// best way; the cost grows with this number times the length.
  static let maximumEdits = 64

  /// How many elements may be compared, for each element of both arrays.
  ///
  /// Arrays that repeat themselves are alike at any offset: they would be gone through once for each of
  /// the offsets that `maximumEdits` allows.
  private static let maximumComparisons = 4

  /// Finds the runs, in order: the common beginning and end, and what can be found between them.
  ///
  /// - Source: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, §4.
  static func find(_ oldCount: Int, _ newCount: Int, _ areSame: (Int, Int) -> Bool) -> [Run] {
    let limit = min(oldCount, newCount)
    var start = 0
    while start < limit, areSame(start, start) { start += 1 }
    var end = 0
    while end < limit - start, areSame(oldCount - end - 1, newCount - end - 1) { end += 1 }

    var runs: [Run] = []
    if start > 0 { runs.append(Run(old: 0, new: 0, count: start)) }
    let (oldRest, newRest) = (oldCount - start - end, newCount - start - end)
    // What the ends have in common is not here: of two single elements nothing is left to be found.
    if oldRest > 0, newRest > 0, oldRest + newRest > 2 {
      for run in between(oldRest, newRest, { areSame(start + $0, start + $1) }) {
        runs.append(Run(old: start + run.old, new: start + run.new, count: run.count))
      }
    }
    if end > 0 { runs.append(Run(old: oldCount - end, new: newCount - end, count: end)) }
    return runs
  }

  /// The runs of a longest common subsequence; none if that takes too many edits.
  private static func between(
    _ oldCount: Int, _ newCount: Int, _ areSame: (Int, Int) -> Bool
  ) -> [Run] {
    // furthest[d][k + d] is how far in the old array d edits lead on diagonal k = old - new.
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

  /// Where an edit leads to on a diagonal: a removal from the one below or an insertion from above.
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

  /// Goes the way back and collects where it went along both arrays at once.
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
