// SPDX-License-Identifier: Apache-2.0

/// Returns the indices of a longest subsequence of increasing values; nil values are ignored.
///
/// - Complexity: O(n log n).
/// - Source: patience sorting; Fredman, "On computing the length of longest increasing
///   subsequences" (1975).
func longestRisingRun(_ values: [Int?]) -> [Int] {
  /// The index of the smallest value that ends a run, for each length.
  var ends: [Int] = []
  var previous = [Int?](repeating: nil, count: values.count)
  /// Returns the length of the longest run that a value can extend.
  func length(endingBelow value: Int) -> Int {
    // Most values extend the longest run.
    guard let last = ends.last, values[last]! >= value else { return ends.count }
    var (low, high) = (0, ends.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if values[ends[middle]]! < value { low = middle + 1 } else { high = middle }
    }
    return low
  }
  for (index, value) in values.enumerated() {
    guard let value else { continue }
    let length = length(endingBelow: value)
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
