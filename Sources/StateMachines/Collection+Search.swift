// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
  /// The index of the first element that meets a condition; `endIndex` if there is none.
  ///
  /// Inlined: a closure or a key path that an unspecialised caller passes costs more than the search.
  ///
  /// - Precondition: all elements after one that meets the condition meet it.
  /// - Complexity: O(log n).
  @inlinable
  @inline(__always)
  package func partitioningIndex(where condition: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
