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
}
