// SPDX-License-Identifier: Apache-2.0

extension Array {
  /// The first index, in elements that are sorted by a value of theirs, whose value is no smaller;
  /// `endIndex` if there is none. O(log n), O(1) for the last one.
  func firstIndex<Value: Comparable>(
    atLeast value: Value, by valueOf: (Element) -> Value
  ) -> Int {
    // What is looked for is most often the newest.
    guard let last, valueOf(last) >= value else { return count }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if valueOf(self[middle]) < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The first index, in elements that are sorted by a value of theirs, whose value is greater; `endIndex` if there is none.
  func firstIndex<Value: Comparable>(above value: Value, by valueOf: (Element) -> Value) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if valueOf(self[middle]) <= value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
