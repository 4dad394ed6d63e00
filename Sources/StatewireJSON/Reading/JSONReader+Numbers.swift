// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Reads a number whose value is an integer of this type; `1.0` and `1e2` are integers too.
  ///
  /// - Throws: `type` for another value, `number` if the number is not an integer or does not fit.
  @inlinable
  public mutating func readInteger<T: FixedWidthInteger>(
    _ type: T.Type = T.self
  ) throws(JSONError) -> T {
    let number = try scanNumber()
    if number.isShort {
      let value = number.isNegative ? 0 &- Int64(number.magnitude) : Int64(number.magnitude)
      if let integer = T(exactly: value) { return integer }
    } else if let integer = JSONNumber(text.part(number.range)).integer(T.self) {
      return integer
    }
    throw fail(
      .number, "the number is not an integer that fits \(T.self)", at: number.range.lowerBound)
  }

  /// Reads an `Int`, as `readInteger` does.
  @inlinable
  public mutating func readInt() throws(JSONError) -> Int { try readInteger() }

  /// Reads the nearest `Double`.
  ///
  /// - Throws: `type` for another value, `number` if the number is too large.
  public mutating func readDouble() throws(JSONError) -> Double {
    let number = try scanNumber()
    if number.isShort {
      let magnitude = Double(number.magnitude)
      if number.magnitude < 1 << 53 { return number.isNegative ? -magnitude : magnitude }
    }
    guard let value = JSONNumber.double(of: text.part(number.range)) else {
      throw fail(.number, "the number is too large for a Double", at: number.range.lowerBound)
    }
    return value
  }

  /// Reads a number of any size and precision.
  ///
  /// - Throws: `type` for another value.
  public mutating func readNumber() throws(JSONError) -> JSONNumber {
    let number = try scanNumber()
    if number.isShort && !(number.isNegative && number.magnitude == 0) {
      let magnitude = Int64(number.magnitude)
      return JSONNumber(number.isNegative ? -magnitude : magnitude)
    }
    return JSONNumber(text.part(number.range))
  }

  /// The range of a number in the text, and its value if that is simple.
  @usableFromInline
  struct NumberScan {
    @usableFromInline var range: Range<Int>
    @usableFromInline var isNegative: Bool
    /// True if it is written as an integer of at most 18 digits, so that `magnitude` is its
    /// absolute value.
    @usableFromInline var isShort: Bool
    @usableFromInline var magnitude: UInt64
  }

  /// Reads a number.
  ///
  /// - Source: RFC 8259 §6.
  @usableFromInline
  mutating func scanNumber() throws(JSONError) -> NumberScan {
    skipSpace()
    let start = at
    var offset = at
    var isNegative = false
    if offset < end, text[offset] == UInt8(ascii: "-") {
      isNegative = true
      offset &+= 1
    }
    let digits = offset
    var magnitude: UInt64 = 0
    while offset < end, let digit = digit(at: offset) {
      magnitude = magnitude &* 10 &+ digit
      offset &+= 1
    }
    guard offset > digits else {
      guard isNegative else { throw unexpected(.number) }
      at = offset
      throw unexpected(.digit)
    }
    if text[digits] == UInt8(ascii: "0") && offset > digits &+ 1 {
      throw fail(.syntax, "the number has a leading zero", at: digits)
    }
    var isShort = offset &- digits <= 18
    if offset < end, text[offset] == UInt8(ascii: ".") {
      isShort = false
      offset = try skipDigits(from: offset &+ 1)
    }
    if offset < end, text[offset] | 0x20 == UInt8(ascii: "e") {
      isShort = false
      offset &+= 1
      if offset < end, text[offset] == UInt8(ascii: "+") || text[offset] == UInt8(ascii: "-") {
        offset &+= 1
      }
      offset = try skipDigits(from: offset)
    }
    at = offset
    return NumberScan(
      range: start..<offset, isNegative: isNegative, isShort: isShort, magnitude: magnitude)
  }

  @inline(__always)
  private func digit(at offset: Int) -> UInt64? {
    let digit = text[offset] &- UInt8(ascii: "0")
    return digit < 10 ? UInt64(digit) : nil
  }

  /// Skips at least one digit and returns the offset after the last one.
  private mutating func skipDigits(from start: Int) throws(JSONError) -> Int {
    var offset = start
    while offset < end, digit(at: offset) != nil { offset &+= 1 }
    guard offset > start else {
      at = offset
      throw unexpected(.digit)
    }
    return offset
  }
}
