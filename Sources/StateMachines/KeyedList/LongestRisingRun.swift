// SPDX-License-Identifier: Apache-2.0

/// The indexes of a longest subsequence whose values rise, nil values left out. O(n log n).
///
/// - Source: patience sorting; Fredman, "On computing the length of longest increasing
///   subsequences" (1975).
func longestRisingRun(_ values: [Int?]) -> [Int] {
  /// For each length, the index of the smallest value that ends a run of that length.
  var ends: [Int] = []
  var previous = [Int?](repeating: nil, count: values.count)
  for (index, value) in values.enumerated() {
    guard let value else { continue }
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if values[ends[middle]]! < value { low = middle + 1 } else { high = middle }
    }
    previous[index] = low == 0 ? nil : ends[low - 1]
    if low == ends.count { ends.append(index) } else { ends[low] = index }
  }
  var run: [Int] = []
  var index = ends.last
  while let current = index {
    run.append(current)
    index = previous[current]
  }
  return run.reversed()
}
