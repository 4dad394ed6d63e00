// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("Request ids")
struct RequestIDTests {
  private func id(_ text: String) -> RequestID {
    Array(text.utf8).withUnsafeBytes { RequestID($0) }
  }

  @Test(
    "ids with different escapes are equal and keep their text",
    arguments: [
      (#""a""#, #""\u0061""#), (#""/""#, #""\/""#), (#""\n""#, #""\u000A""#),
      (#""\u00e9""#, "\"\u{E9}\""), (#""\ud83d\ude00""#, "\"\u{1F600}\""),
      (#""\ud800""#, "\"\u{FFFD}\""), (#""\"""#, #""\u0022""#), ("1", "1"), ("null", "null"),
    ])
  func same(_ one: String, _ other: String) {
    #expect(id(one) == id(other))
    #expect(id(one).hashValue == id(other).hashValue)
    #expect(id(one).text == Array(one.utf8))
    #expect(id(other).text == Array(other.utf8))
  }

  @Test(
    "ids with different values or number texts are different",
    arguments: [
      ("1", "\"1\""), ("1", "1.0"), ("100", "1e2"), ("0", "-0"), ("null", "\"null\""),
      ("\"\u{E9}\"", "\"e\u{301}\""), (#""\\n""#, #""\n""#),
    ])
  func different(_ one: String, _ other: String) { #expect(id(one) != id(other)) }
}
