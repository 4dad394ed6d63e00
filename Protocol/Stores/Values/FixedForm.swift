// SPDX-License-Identifier: Apache-2.0

/// Functions for texts of a fixed form.
package enum FixedForm {
  /// Returns the digits at the positions at which the form has a `d`; nil if the text does not
  /// match the form.
  ///
  /// - Parameter form: `d` for a digit, `s` for a plus or minus; any other character for itself.
  package static func digits(of text: some Collection<UInt8>, as form: StaticString) -> [Int]? {
    form.withUTF8Buffer { form in
      guard text.count == form.count else { return nil }
      var digits: [Int] = []
      for (byte, place) in zip(text, form) {
        switch place {
        case UInt8(ascii: "d"):
          guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
          digits.append(Int(byte - UInt8(ascii: "0")))
        case UInt8(ascii: "s"):
          guard byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") else { return nil }
        default:
          guard byte == place else { return nil }
        }
      }
      return digits
    }
  }

  /// Returns the form with each run of `d` replaced by a number: by its last digits, with leading
  /// zeros.
  ///
  /// The text is created in one step; joining parts would create a new string for each part.
  ///
  /// - Parameters:
  ///   - form: `d` for a digit, any other character for itself; ASCII.
  ///   - numbers: One number for each run of `d`; signs are ignored.
  package static func text(_ form: StaticString, _ numbers: Int...) -> String {
    form.withUTF8Buffer { form in
      String(unsafeUninitializedCapacity: form.count) { text in
        var (next, rest, isRun) = (numbers.count, UInt(0), false)
        for index in form.indices.reversed() {
          let isDigit = form[index] == UInt8(ascii: "d")
          if isDigit && !isRun {
            next -= 1
            rest = numbers[next].magnitude
          }
          isRun = isDigit
          let byte = isDigit ? UInt8(ascii: "0") + UInt8(rest % 10) : form[index]
          text.initializeElement(at: index, to: byte)
          rest /= 10
        }
        assert(next == 0, "one number for each run")
        return form.count
      }
    }
  }
}
