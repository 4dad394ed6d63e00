// SPDX-License-Identifier: Apache-2.0

/// Where each array and object of a JSON text ends.
struct ContainerEnds {
  /// In the order of their starts.
  private var ranges: [Range<Int>] = []

  /// Reads a text once. Of one that is no JSON it knows ends within the text.
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

  /// The end of the container that starts at an offset; nil if none does.
  func end(of start: Int) -> Int? {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].lowerBound < start { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound == start ? ranges[low].upperBound : nil
  }
}
