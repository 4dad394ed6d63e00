// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Testing

@testable import BuiltinStores

@Suite("Form rules")
struct FormRuleTests {
  static let match = "Values for fields must match."
  static let length = "Please enter values of at least 5 characters."

  private func check(
    _ first: FormEntry, _ second: FormEntry, _ messages: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for (one, other) in [(first, second), (second, first)] {
      #expect(
        FormRule.all.broken(by: one, other).map(\.message) == messages,
        sourceLocation: sourceLocation)
    }
  }

  @Test("two entries break these rules, in this order, each at most once")
  func table() {
    check("", "", [Self.length])
    check("abcde", "", [Self.match, Self.length])
    check("abcd", "abcd", [Self.length])
    check("abcd", "abce", [Self.match, Self.length])
    check("abcde", "abcdf", [Self.match])
    check("abcde", "abcde", [])
    check("     ", "     ", [])
  }

  @Test("a character is an extended grapheme cluster")
  func characters() {
    for four in [
      "👍👍👍👍", "👍🏽👍🏽👍🏽👍🏽", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "🇩🇪🇫🇷🇮🇹🇪🇸", "e\u{301}e\u{301}e\u{301}e\u{301}",
      "각각각각", "\r\n\r\n\r\n\r\n",
    ] as [FormEntry] {
      check(four, four, [Self.length])
      let five: FormEntry = .init(stringLiteral: four.text + "x")
      check(five, five, [])
    }
    // A character of many bytes counts as one.
    let one: FormEntry = .init(stringLiteral: "e" + String(repeating: "\u{301}", count: 30_000))
    check(one, one, [Self.length])
  }

  @Test("white space of every kind counts, at any position")
  func whiteSpace() {
    check(" abc ", " abc ", [])
    check("\t\n \u{A0}\u{3000}", "\t\n \u{A0}\u{3000}", [])
    check("abcde", "abcde ", [Self.match])
  }

  @Test("entries match if they are canonically equivalent, not if they only look alike")
  func equivalence() {
    check("caf\u{E9}s", "cafe\u{301}s", [])
    check("각각각각각", "\u{1100}\u{1161}\u{11A8}각각각각", [])
    check("ABCDE", "abcde", [Self.match])
    check("ﬁnden", "finden", [Self.match])
    check("abcd\u{435}", "abcde", [Self.match])
  }

  @Test(
    "combining marks in another order match, except in a row of more than 30",
    arguments: [("\u{301}", "\u{323}"), ("\u{F72}", "\u{F71}")] as [(String, String)])
  func marks(above: String, below: String) {
    func entry(_ first: String, _ second: String, count: Int) -> FormEntry {
      .init(stringLiteral: "abcde" + first + String(repeating: second, count: count - 1))
    }
    func reversed(_ first: String, _ second: String, count: Int) -> FormEntry {
      .init(stringLiteral: "abcde" + String(repeating: second, count: count - 1) + first)
    }
    check(entry(above, below, count: 30), reversed(above, below, count: 30), [])
    check(entry(above, below, count: 31), reversed(above, below, count: 31), [Self.match])
    check(entry(above, below, count: 31), entry(above, below, count: 31), [])
    check(entry(above, below, count: 20_000), entry(above, below, count: 20_000), [])
    check(entry(above, below, count: 20_000), reversed(above, below, count: 20_000), [Self.match])
  }

  @Test(
    "a character that decomposes into marks counts as a mark", arguments: ["\u{F73}", "\u{F81}"])
  func decomposedMarks(vowel: String) {
    let marks = String(repeating: vowel, count: 31)
    check(
      .init(stringLiteral: "abcde\u{301}" + marks),
      .init(stringLiteral: "abcde" + marks + "\u{301}"),
      [Self.match])
    let few = String(vowel)
    check(
      .init(stringLiteral: "abcde\u{301}" + few), .init(stringLiteral: "abcde" + few + "\u{301}"),
      [])
  }

  @Test("each rule has its own code")
  func codes() {
    #expect(FormRule.all.map(\.text.code) == ["form.entriesDiffer", "form.entryTooShort"])
  }
}
