// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Skips the next value and returns its range.
  ///
  /// Skipping checks as strictly as reading: grammar, UTF-8, escapes, depth.
  ///
  /// - Throws: `JSONError` if the text is not JSON or too deep.
  @discardableResult
  public mutating func skipValue() throws(JSONError) -> Range<Int> {
    skipSpace()
    let start = at
    let plainEnd = plainValueEnd(from: start)
    if plainEnd >= 0 {
      at = plainEnd
    } else {
      try skipStrictly()
    }
    #if FUZZING
      JSONWork.bytes += at - start
    #endif
    return start..<at
  }

  private mutating func skipStrictly() throws(JSONError) {
    var nesting = Nesting()
    repeat {
      // A value is expected here.
      switch nextByte() {
      case UInt8(ascii: "\""):
        _ = try scanString()
      case UInt8(ascii: "{"):
        try open()
        nesting.push(isObject: true)
      case UInt8(ascii: "["):
        try open()
        nesting.push(isObject: false)
      case UInt8(ascii: "t"):
        try literal("true")
      case UInt8(ascii: "f"):
        try literal("false")
      case UInt8(ascii: "n"):
        try literal("null")
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        _ = try scanNumber()
      default:
        throw unexpected(.value)
      }
      // Leave the containers that end here, until one has another value or the outermost value is
      // complete.
      while nesting.count > 0 {
        let hasMore = nesting.isInObject ? try nextKey() != nil : try nextElement()
        if hasMore { break }
        nesting.pop()
      }
    } while nesting.count > 0
  }

  /// Skips what another reader has read, if the same bytes are here.
  ///
  /// - Precondition: Both readers were in the same kind of container.
  /// - Parameters:
  ///   - start: The other reader before it read.
  ///   - end: The other reader after it read.
  /// - Returns: False if the bytes differ; nothing has been read then.
  mutating func readSame(as start: JSONReader, to end: JSONReader) -> Bool {
    let next = at &+ (end.at &- start.at)
    guard next <= self.end, isFresh == start.isFresh,
      text.part(from: at, to: next).hasSameBytes(
        as: start.text.part(from: start.at, to: end.at))
    else { return false }
    at = next
    depth &+= end.depth &- start.depth
    isFresh = end.isFresh
    return true
  }

  /// Continues at an offset that is known to be directly after the next value.
  mutating func skip(to offset: Int) {
    at = offset
  }

  /// The kinds of the open containers: one bit each, on the heap only for more than 64 levels.
  private struct Nesting {
    private(set) var count = 0
    private var top: UInt64 = 0
    private var below: [UInt64] = []

    var isInObject: Bool { top & 1 == 1 }

    mutating func push(isObject: Bool) {
      if count > 0 && count & 63 == 0 {
        below.append(top)
        top = 0
      }
      top = top << 1 | (isObject ? 1 : 0)
      count &+= 1
    }

    mutating func pop() {
      count &-= 1
      top >>= 1
      if count > 0 && count & 63 == 0, let last = below.popLast() { top = last }
    }
  }
}
