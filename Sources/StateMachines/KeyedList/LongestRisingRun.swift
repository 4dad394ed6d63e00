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
    let length = ends.firstIndex(atLeast: value) { values[$0]! }
    previous[index] = length == 0 ? nil : ends[length - 1]
    if length == ends.count { ends.append(index) } else { ends[length] = index }
  }
  var run: [Int] = []
  var index = ends.last
  while let current = index {
    run.append(current)
    index = previous[current]
  }
  return run.reversed()
}
