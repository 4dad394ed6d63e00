// SPDX-License-Identifier: Apache-2.0

/// The end offsets of all arrays and objects of a JSON text.
struct ContainerEnds {
  /// Sorted by their starts.
  private var ranges: [Range<Int>] = []

  /// Finds the ends in one pass. If the text is not JSON, all ends still lie within the text.
  init(_ text: UnsafeRawBufferPointer) {
    var open: [Int] = []
    var at = 0
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\""):
        at += 1
        while at < text.count, text[at] != UInt8(ascii: "\"") {
          at += text[at] == UInt8(ascii: "\\") ? 2 : 1
        }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open.append(ranges.count)
        ranges.append(at..<text.count)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if let last = open.popLast() { ranges[last] = ranges[last].lowerBound..<at + 1 }
      default: break
      }
      at += 1
    }
  }

  /// Returns the end of the container that starts at an offset; nil if there is none.
  func end(of start: Int) -> Int? {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].lowerBound < start { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound == start ? ranges[low].upperBound : nil
  }
}
