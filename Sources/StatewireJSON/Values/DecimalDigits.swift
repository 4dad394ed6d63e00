// SPDX-License-Identifier: Apache-2.0

/// The parsed text of a number: its significant digits and the position of the decimal point.
///
/// The value is 0.d₁d₂d₃… × 10^(written exponent + shift), where d₁ and the last digit are not 0.
/// The digits are never expanded, so `1e1000000000` costs as much as its twelve characters.
///
/// It does not own the text.
struct DecimalDigits {
  let text: UnsafeRawBufferPointer
  let isNegative: Bool
  /// The range from the first to the last digit that is not 0; it may contain a decimal point.
  let digits: Range<Int>
  /// The range of the written exponent without its sign and leading zeros; empty for 0.
  private let exponent: Range<Int>
  let isExponentNegative: Bool
  /// The number that the position of the decimal point adds to the exponent.
  private let shift: Int

  var isZero: Bool { digits.isEmpty }

  /// Parses a number.
  ///
  /// - Precondition: `text` is a number by RFC 8259 §6.
  init(_ text: UnsafeRawBufferPointer) {
    self.text = text
    isNegative = text.first == UInt8(ascii: "-")
    let start = isNegative ? 1 : 0
    var first: Int?
    var last = start
    var point: Int?
    var offset = start
    while offset < text.count, text[offset] | 0x20 != UInt8(ascii: "e") {
      switch text[offset] {
      case UInt8(ascii: "."):
        point = offset
      case UInt8(ascii: "0"):
        break
      default:
        if first == nil { first = offset }
        last = offset
      }
      offset += 1
    }
    let mantissaEnd = offset
    var isExponentNegative = false
    if offset < text.count { offset += 1 }
    if offset < text.count, text[offset] < UInt8(ascii: "0") {
      isExponentNegative = text[offset] == UInt8(ascii: "-")
      offset += 1
    }
    while offset < text.count, text[offset] == UInt8(ascii: "0") { offset += 1 }
    exponent = offset..<text.count
    self.isExponentNegative = isExponentNegative && offset < text.count

    if let first {
      digits = first..<last + 1
      let pointAt = point ?? mantissaEnd
      // "12.5": the point is 2 digits after the first digit. "0.05": it is 1 zero before the first
      // digit.
      shift = first < pointAt ? pointAt - first : pointAt + 1 - first
    } else {
      digits = start..<start
      shift = 0
    }
  }

  /// The number of significant digits.
  ///
  /// - Complexity: O(length).
  var count: Int {
    digits.reduce(0) { text[$1] == UInt8(ascii: ".") ? $0 : $0 + 1 }
  }

  /// The total exponent; nil if its digits exceed 17, which is out of range for every 64-bit type.
  var power: Int? {
    guard exponent.count <= 17 else { return nil }
    let written = exponent.reduce(0) { $0 * 10 + Int(text[$1] - UInt8(ascii: "0")) }
    return (isExponentNegative ? -written : written) + shift
  }

  /// Returns the value, multiplied by a power of ten, if it is an integer that the type can hold.
  func integer<T: FixedWidthInteger>(timesTenTo scale: Int = 0) -> T? {
    if isZero { return 0 }
    guard let own = self.power, case let power = own + scale, power > 0, power <= 40,
      count <= power
    else { return nil }
    var value: T = 0
    var places = 0
    func append(_ digit: UInt8) -> Bool {
      let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) =
        isNegative
        ? shifted.subtractingReportingOverflow(T(digit))
        : shifted.addingReportingOverflow(T(digit))
      value = sum
      places += 1
      return !overflow && !carry
    }
    for offset in digits where text[offset] != UInt8(ascii: ".") {
      guard append(text[offset] - UInt8(ascii: "0")) else { return nil }
    }
    while places < power {
      guard append(0) else { return nil }
    }
    return value
  }
}

// MARK: - Comparing

extension DecimalDigits {
  /// Returns true if both have exactly the same value.
  func isSameNumber(as other: DecimalDigits) -> Bool {
    if isZero || other.isZero { return isZero && other.isZero }
    return isNegative == other.isNegative && hasSamePower(as: other) && hasSameDigits(as: other)
  }

  private func hasSamePower(as other: DecimalDigits) -> Bool {
    if let power, let otherPower = other.power { return power == otherPower }
    return spelledPower == other.spelledPower
  }

  /// The total exponent as decimal digits, lowest first, for exponents of any length.
  private var spelledPower: [Int] {
    if let power {
      return String(power.magnitude).utf8.reversed()
        .map { Int($0 - UInt8(ascii: "0")) * power.signum() }
    }
    // The written exponent is far larger than the shift, so the sum has its sign.
    var sum = exponent.reversed().map { Int(text[$0] - UInt8(ascii: "0")) }
    var carry = isExponentNegative ? -shift : shift
    var place = 0
    while carry != 0 {
      if place == sum.count { sum.append(0) }
      let total = sum[place] + carry
      let digit = (total % 10 + 10) % 10
      sum[place] = digit
      carry = (total - digit) / 10
      place += 1
    }
    while sum.last == 0 { sum.removeLast() }
    return isExponentNegative ? sum.map { -$0 } : sum
  }

  private func hasSameDigits(as other: DecimalDigits) -> Bool {
    var own = digits.makeIterator()
    var others = other.digits.makeIterator()
    func next(_ iterator: inout Range<Int>.Iterator, in text: UnsafeRawBufferPointer) -> UInt8? {
      while let offset = iterator.next() {
        if text[offset] != UInt8(ascii: ".") { return text[offset] }
      }
      return nil
    }
    while true {
      let digit = next(&own, in: text)
      guard digit == next(&others, in: other.text) else { return false }
      if digit == nil { return true }
    }
  }
}
