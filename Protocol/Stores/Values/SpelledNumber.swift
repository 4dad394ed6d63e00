// SPDX-License-Identifier: Apache-2.0

/// A number's text taken apart.
///
/// - Source: RFC 8259 §6.
struct SpelledNumber {
  var isNegative = false
  /// The digits before and behind the point.
  var digits: [UInt8] = []
  /// What to multiply them by, as a power of ten.
  var exponent = 0

  /// Nil if the text is anything else, has more than `DecimalNumber.maximumDigits` digits or an
  /// exponent beyond that number.
  init?(_ text: some StringProtocol) {
    // What is longer is no number that could be taken, whatever it is.
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

  /// Room for all digits, sign, point and an exponent with some zeros in front.
  private static let maximumBytes = 2 * DecimalNumber.maximumDigits
}

extension ArraySlice<UInt8> {
  /// Takes a character off the front, if it stands there.
  fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard first == UInt8(ascii: character) else { return false }
    removeFirst()
    return true
  }

  /// Takes the digits off the front, as numbers.
  fileprivate mutating func takeDigits() -> [UInt8] {
    let taken = prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    removeFirst(taken.count)
    return taken.map { $0 - UInt8(ascii: "0") }
  }
}
