// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("First bytes of a stream")
struct OpeningTests {
  /// The shortest beginnings that can be classified, and their classes.
  static let openings: [(String, Opening)] = [
    ("{", .lines), ("[", .lines),
    ("Content-Length:", .headers), ("content-type:", .headers), ("CONTENT-LENGTH:", .headers),
    ("GET ", .foreign(.http)), ("POST ", .foreign(.http)), ("CONNECT ", .foreign(.http)),
    ("COPY ", .foreign(.http)), ("PRI ", .foreign(.http)), ("M-SEARCH ", .foreign(.http)),
    ("UPDATEREDIRECTREF ", .foreign(.http)), ("CONTENT-LENGTH ", .foreign(.http)),
    ("\u{16}", .foreign(.tls)), ("SSH-", .foreign(.ssh)),
    ("get", .foreign(.other)), (" ", .foreign(.other)), ("\"", .foreign(.other)),
    ("1", .foreign(.other)), ("null", .foreign(.other)), ("\u{FEFF}", .foreign(.other)),
    ("\u{0}", .foreign(.other)), ("Get", .foreign(.other)), ("GET\t", .foreign(.other)),
    ("Content-Length ", .foreign(.other)), ("Content-Lengths", .foreign(.other)),
    ("Content-Encoding", .foreign(.other)), ("content\rlength", .foreign(.other)),
    ("Host", .foreign(.other)), ("}", .foreign(.other)),
    (String(repeating: "A", count: 21), .foreign(.other)),
  ]

  @Test(
    "an opening is classified as early as possible, and more bytes do not change the result",
    arguments: openings)
  func classified(_ text: String, _ expected: Opening) {
    let bytes = Array(text.utf8)
    #expect(Opening(bytes) == expected)
    for more in ["{", "x", ": ", "\r\n", "Content-Length: 2\r\n\r\n{}"] {
      #expect(Opening(bytes + more.utf8) == expected, "\(more)")
    }
  }

  @Test(
    "an opening that can still be several things is not classified",
    arguments: ["Content-Length:", "GET "])
  func undecided(_ text: String) {
    let bytes = Array(text.utf8)
    for count in 0..<bytes.count { #expect(Opening(Array(bytes.prefix(count))) == nil) }
    #expect(Opening(Array(repeating: UInt8(ascii: "A"), count: 20)) == nil)
  }
}
