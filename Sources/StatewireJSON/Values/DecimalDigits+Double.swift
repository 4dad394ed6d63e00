// SPDX-License-Identifier: Apache-2.0

extension DecimalDigits {
  /// Returns the nearest `Double` in simple cases: about 15 digits and a power of ten that is
  /// exactly a `Double`. Exact operands and one rounding give the nearest value. Returns nil in
  /// other cases.
  ///
  /// - Precondition: `text` is a number by RFC 8259 §6.
  /// - Source: Clinger, "How to Read Floating Point Numbers Accurately", 1990, §3.
  static func simpleDouble(_ text: UnsafeRawBufferPointer) -> Double? {
    guard text.count <= 24 else { return nil }
    let isNegative = text.first == UInt8(ascii: "-")
    var mantissa: UInt64 = 0
    var scale = 0
    var isFraction = false
    var offset = isNegative ? 1 : 0
    while offset < text.count, text[offset] | 0x20 != UInt8(ascii: "e") {
      if text[offset] == UInt8(ascii: ".") {
        isFraction = true
      } else {
        guard mantissa < 1 << 53 else { return nil }
        mantissa = mantissa * 10 + UInt64(text[offset] - UInt8(ascii: "0"))
        if isFraction { scale -= 1 }
      }
      offset += 1
    }
    if offset < text.count {
      offset += 1
      let sign = text[offset]
      if sign < UInt8(ascii: "0") { offset += 1 }
      guard text.count - offset <= 3 else { return nil }
      let exponent = text.part(offset..<text.count).reduce(0) {
        $0 * 10 + Int($1 - UInt8(ascii: "0"))
      }
      scale += sign == UInt8(ascii: "-") ? -exponent : exponent
    }
    guard mantissa <= 1 << 53, scale.magnitude < powers.count else { return nil }
    let factor = powers[Int(scale.magnitude)]
    let value = scale < 0 ? Double(mantissa) / factor : Double(mantissa) * factor
    return isNegative ? -value : value
  }

  /// The powers of ten that are exactly doubles.
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// Returns the nearest `Double`; infinite if the number is too large.
  func double() -> Double {
    let sign: Double = isNegative ? -1 : 1
    if isZero { return sign * 0 }
    guard let power else { return isExponentNegative ? sign * 0 : sign * .infinity }
    if power > 310 { return sign * .infinity }
    if power < -330 { return sign * 0 }
    // The standard library's conversion rounds correctly. The result depends only on the first 768
    // digits and on whether any digit follows them, so a number of a million digits is shortened
    // first.
    if text.count <= 512 { return Double(String(decoding: text, as: UTF8.self)) ?? .nan }
    var kept: [UInt8] = []
    for offset in digits where text[offset] != UInt8(ascii: ".") {
      guard kept.count < 800 else {
        // The last digit is not 0, so at least one digit other than 0 follows.
        kept.append(UInt8(ascii: "1"))
        break
      }
      kept.append(text[offset])
    }
    let spelled = String(decoding: kept, as: UTF8.self) + "e\(power - kept.count)"
    return sign * (Double(spelled) ?? .nan)
  }
}
