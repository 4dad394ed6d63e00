// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

extension JSON {
  /// Checks that all numbers of a text fit a `Double`. The digest of a state needs it, so a state with another
  /// number could not be given to clients.
  ///
  /// - Parameter text: Valid JSON.
  /// - Throws: `JSONError` with the code `number` and the path.
  static func checkNumbers(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    guard hasSignOfLargeNumber(text), mayHaveLargeNumber(text) else { return }
    var reader = JSONReader(text, limits: JSONLimits(maximumDepth: 1_000))
    try checkNumbers(in: &reader)
  }

  /// Checks the next value as it is written: of two members with the same key both.
  private static func checkNumbers(in reader: inout JSONReader) throws(JSONError) {
    switch try reader.peek() {
    case .null, .bool, .string: try reader.skipValue()
    case .number:
      let start = reader.nextValueOffset()
      guard try reader.readNumber().double.isFinite else {
        throw reader.error(.number, "the number is too large for a Double", at: start)
      }
    case .array:
      try reader.beginArray()
      while try reader.nextElement() { try checkNumbers(in: &reader) }
    case .object:
      try reader.beginObject()
      while try reader.nextKey() != nil { try checkNumbers(in: &reader) }
    }
  }

  /// Checks a value that is passed to the program.
  static func checkNumbers(of value: JSONText) throws(JSONError) {
    try value.bytes.span.withUnsafeBytes { bytes throws(JSONError) in try checkNumbers(bytes) }
  }

  /// Looks for what each number that is too large has, also within strings: a digit and then the letter of an
  /// exponent, or many digits. It looks at eight bytes at a time.
  static func hasSignOfLargeNumber(_ text: UnsafeRawBufferPointer) -> Bool {
    /// Returns a word with the top bit set for the bytes of `word` that are 0, and for some that are 1.
    func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & (ones << 7) }
    let ones: UInt64 = 0x0101_0101_0101_0101
    // Set if the byte before the word is a digit.
    var carry: UInt64 = 0
    var words = 0
    var offset = 0
    while offset &+ 8 <= text.count {
      let word = UInt64(
        littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      // The digits, and six signs whose codes follow theirs.
      let digits = zeros((word ^ (ones &* 0x30)) & (ones &* 0xF0))
      let letters = zeros((word | (ones &* 0x20)) ^ (ones &* 0x65))
      if (digits << 8 | carry) & letters != 0 { return true }
      carry = digits >> 56
      words = digits == ones << 7 ? words &+ 1 : 0
      // 309 digits contain as many whole words.
      if words == 37 { return true }
      offset &+= 8
    }
    var isAfterDigit = carry != 0
    for byte in text[offset...] {
      if isAfterDigit, byte | 0x20 == UInt8(ascii: "e") { return true }
      isAfterDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
    return false
  }

  /// Looks for the digits or the exponent of a number that is too large.
  static func mayHaveLargeNumber(_ text: UnsafeRawBufferPointer) -> Bool {
    var digits = 0
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
        isInString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else if UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte {
        digits += 1
        if digits == 309 { return true }
      } else {
        // The letter is `e` or `E`.
        if digits > 0, byte | 0x20 == UInt8(ascii: "e") { return true }
        digits = 0
        isInString = byte == UInt8(ascii: "\"")
      }
    }
    return false
  }
}
