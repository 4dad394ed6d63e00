// SPDX-License-Identifier: Apache-2.0

/// Texts whose every character has its place.
package enum FixedForm {
  /// The digits that stand where the form has a `d`, if all else stands as in the form.
  ///
  /// - Parameter form: `d` for a digit, `s` for a plus or minus, anything else for itself.
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

  /// The form, with a number in place of each run of `d`: its last digits, or zeros before it.
  ///
  /// Made in one go, where a text put together of parts is made anew with each.
  ///
  /// - Parameters:
  ///   - form: `d` for a digit, anything else for itself; ASCII.
  ///   - numbers: One for each run; their signs are left out.
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
