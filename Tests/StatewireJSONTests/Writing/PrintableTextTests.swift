// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Text for terminals")
struct PrintableTextTests {
  @Test("exactly the characters that control a terminal are replaced")
  func every() {
    let properties = (0...0x10FFFF).compactMap { Unicode.Scalar($0 as UInt32) }
    for scalar in properties {
      let isReplaced =
        scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
        || [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
      #expect((String(scalar).printable != String(scalar)) == isReplaced, "\(scalar.value)")
    }
  }

  @Test(
    "a replacement is the JSON escape of the character",
    arguments: [
      ("a\u{1b}]2;x\u{7}\u{9b}2J", #"a\u001b]2;x\u0007\u009b2J"#), ("\t\r\n", #"\t\r\n"#),
      ("\r\n\u{7f}", #"\r\n\u007f"#), ("a\u{202e}b\u{2028}c", #"a\u202eb\u2028c"#),
      ("Käse 👩‍👩‍👧 e\u{301} \u{feff}", "Käse 👩‍👩‍👧 e\u{301} \u{feff}"), ("", ""),
    ])
  func replacements(_ text: String, _ expected: String) {
    #expect(text.printable.unicodeScalars.elementsEqual(expected.unicodeScalars))
    #expect(text.printable.printable == text.printable)
    #expect(text.printableLines.replacing("\n", with: "\\n") == expected)
  }

  @Test("printable JSON is the same value")
  func json() throws {
    let value: JSONValue = ["a\u{9b}\u{7f}": ["\u{202e}\u{1b}\n", 1]]
    let text = value.description
    #expect(text != text.printable)
    #expect(try JSONValue(parsing: text.printable) == value)
  }

  @Test("messages quote only a few characters and no control characters")
  func errors() {
    #expect("\u{1b}\u{9b}".quoted() == #""\u001b\u009b""#)
    #expect(
      String(repeating: "a", count: 33).quoted() == "\"\(String(repeating: "a", count: 32))…\"")
    let error = JSONError(.value, "no", path: [.key("\u{9b}")])
    #expect(error.description == #"no at /\u009b"#)
    #expect(error.pathDescription == "/\u{9b}")
  }
}
