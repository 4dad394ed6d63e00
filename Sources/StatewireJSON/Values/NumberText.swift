// SPDX-License-Identifier: Apache-2.0

/// The text of a `Double`.
enum NumberText {
  /// Returns the shortest text that represents the value, in the form of ECMAScript: no `.0`, an
  /// exponent from 1e21 upwards and below 1e-6. Unlike in ECMAScript, `-0` keeps its sign.
  ///
  /// - Precondition: `value` is finite.
  /// - Source: ECMA-262 §6.1.6.1.20 (Number::toString), which RFC 8785 §3.2.2.3 refers to.
  static func shortest(_ value: Double) -> String {
    if value == value.rounded(.towardZero), value.magnitude < 0x1p53 {
      return value == 0 && value.sign == .minus ? "-0" : String(Int64(value))
    }
    return ecmaScript(value.description)
  }

  /// Returns the shortest text that represents the value as a `Float`, in the same form.
  static func shortest(_ value: Float) -> String {
    if value == value.rounded(.towardZero), value.magnitude < 0x1p24 {
      return value == 0 && value.sign == .minus ? "-0" : String(Int64(value))
    }
    return ecmaScript(value.description)
  }

  /// Converts the standard library's form (`5e-324`, `1e+16`, `0.0001`) to the form of ECMAScript.
  private static func ecmaScript(_ description: String) -> String {
    // A description without an exponent has that form already, except for whole numbers.
    if !description.utf8.contains(UInt8(ascii: "e")),
      !description.utf8.suffix(2).elementsEqual([
        UInt8(ascii: "."), UInt8(ascii: "0"),
      ])
    {
      return description
    }
    var digits: [UInt8] = []
    var isNegative = false
    var point: Int?
    var exponent = 0
    var bytes = description.utf8[...]
    if bytes.first == UInt8(ascii: "-") {
      isNegative = true
      bytes = bytes.dropFirst()
    }
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: ".") {
        point = digits.count
      } else if byte == UInt8(ascii: "e") {
        exponent = Int(Substring(bytes)) ?? 0
        break
      } else {
        digits.append(byte)
      }
    }
    // The value is 0.digits × 10^power.
    var power = (point ?? digits.count) + exponent
    while digits.count > 1, digits.first == UInt8(ascii: "0") {
      digits.removeFirst()
      power -= 1
    }
    while digits.count > 1, digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return (isNegative ? "-" : "") + place(String(decoding: digits, as: UTF8.self), power: power)
  }

  private static func place(_ digits: String, power: Int) -> String {
    let count = digits.utf8.count
    switch power {
    case count...21 where power >= count:
      return digits + String(repeating: "0", count: power - count)
    case 1...21:
      return digits.prefix(power) + "." + digits.dropFirst(power)
    case -5...0:
      return "0." + String(repeating: "0", count: -power) + digits
    default:
      let sign = power > 0 ? "+" : "-"
      let fraction = count > 1 ? "." + digits.dropFirst() : ""
      return digits.prefix(1) + fraction + "e" + sign + String((power - 1).magnitude)
    }
  }
}
