// SPDX-License-Identifier: Apache-2.0

extension Array {
  /// The first index, in elements that are sorted by a number, whose number is no smaller; `endIndex`
  /// if there is none.
  func firstIndex(atLeast number: UInt64, by numberOf: (Element) -> UInt64) -> Int {
    // What is looked for is most often the newest.
    guard let last, numberOf(last) >= number else { return count }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if numberOf(self[middle]) < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
