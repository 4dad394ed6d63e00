// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

extension JSON {
  /// Checks that all numbers of a text fit a `Double`. The digest of a state needs it, so a state with another
  /// number could not be given to clients.
  ///
  /// - Parameter text: Valid JSON.
  /// - Throws: `JSONError` with the code `number` and the path.
  static func checkNumbers(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    guard mayHaveLargeNumber(text) else { return }
    _ = try canonical(JSONValue(parsing: text, limits: JSONLimits(maximumDepth: 1_000)))
  }

  /// Checks a value that is passed to the program.
  static func checkNumbers(of value: JSONText) throws(JSONError) {
    try value.bytes.span.withUnsafeBytes { bytes throws(JSONError) in try checkNumbers(bytes) }
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
