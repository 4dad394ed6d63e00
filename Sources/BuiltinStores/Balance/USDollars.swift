// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol

/// The format of amounts in US dollars for en_US.
enum USDollars {
  /// Returns the amount with two decimals, rounded half to even: "-$1,234.50". An amount that
  /// rounds to zero has no minus sign.
  static func text(_ amount: DecimalNumber) -> String {
    let rounded = amount.rounded(toPlaces: 2)
    let digits = rounded.fractionDigits
    let zeros = String(repeating: "0", count: 2 - digits.utf8.count)
    return String(
      parts: rounded.isNegative ? "-$" : "$", grouped(rounded.integerDigits), ".", digits, zeros)
  }

  /// Returns the digits in groups of three, separated by commas.
  ///
  /// - Parameter digits: ASCII digits.
  private static func grouped(_ digits: String) -> String {
    guard digits.utf8.count > 3 else { return digits }
    var text = ""
    for (place, digit) in zip((0..<digits.utf8.count).reversed(), digits) {
      text.append(digit)
      if place > 0, place.isMultiple(of: 3) { text.append(",") }
    }
    return text
  }
}
