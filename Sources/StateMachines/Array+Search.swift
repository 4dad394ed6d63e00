// SPDX-License-Identifier: Apache-2.0

extension Array {
  /// The index of the first element whose value is at least `value`; `endIndex` if there is none.
  ///
  /// - Precondition: the elements are sorted by that value, ascending.
  /// - Complexity: O(log n); O(1) for the last element.
  func firstIndex<Value: Comparable>(
    atLeast value: Value, by valueOf: (Element) -> Value
  ) -> Int {
    // Callers most often search for the newest element.
    guard let last, valueOf(last) >= value else { return count }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if valueOf(self[middle]) < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The index of the first element whose value is greater than `value`; `endIndex` if there is
  /// none.
  ///
  /// - Precondition: the elements are sorted by that value, ascending.
  /// - Complexity: O(log n).
  func firstIndex<Value: Comparable>(above value: Value, by valueOf: (Element) -> Value) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if valueOf(self[middle]) <= value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
