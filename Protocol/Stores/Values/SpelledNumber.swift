// SPDX-License-Identifier: Apache-2.0

/// The parsed text of a number.
///
/// - Source: RFC 8259 §6.
struct SpelledNumber {
  var isNegative = false
  /// The digits before and after the decimal point.
  var digits: [UInt8] = []
  /// The exponent of the power of ten by which the digits are multiplied.
  var exponent = 0

  /// Parses a text; nil if it is not a number, has more than `DecimalNumber.maximumDigits` digits,
  /// or has an exponent greater than that number.
  init?(_ text: some StringProtocol) {
    // A longer text is not a number within these limits.
    let bytes = Array(text.utf8.prefix(Self.maximumBytes + 1))
    guard bytes.count <= Self.maximumBytes else { return nil }
    var rest = bytes[...]
    isNegative = rest.skip("-")
    digits = rest.takeDigits()
    guard let first = digits.first, first != 0 || digits.count == 1 else { return nil }
    if rest.skip(".") {
      let fraction = rest.takeDigits()
      guard !fraction.isEmpty else { return nil }
      digits += fraction
      exponent = -fraction.count
    }
    if rest.skip("e") || rest.skip("E") {
      let isNegative = rest.skip("-")
      if !isNegative { _ = rest.skip("+") }
      let written = rest.takeDigits()
      guard !written.isEmpty else { return nil }
      let power = written.reduce(0) { min($0 * 10 + Int($1), DecimalNumber.maximumDigits + 1) }
      guard power <= DecimalNumber.maximumDigits else { return nil }
      exponent += isNegative ? -power : power
    }
    guard rest.isEmpty, digits.count <= DecimalNumber.maximumDigits else { return nil }
  }

  /// Enough for all digits, the sign, the decimal point and an exponent with some leading zeros.
  private static let maximumBytes = 2 * DecimalNumber.maximumDigits
}

extension ArraySlice<UInt8> {
  /// Removes a character from the front and returns true if it is the first one.
  fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard first == UInt8(ascii: character) else { return false }
    removeFirst()
    return true
  }

  /// Removes the digits from the front and returns their values.
  fileprivate mutating func takeDigits() -> [UInt8] {
    let taken = prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    removeFirst(taken.count)
    return taken.map { $0 - UInt8(ascii: "0") }
  }
}
