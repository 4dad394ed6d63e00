// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServerCore

@Suite("Token files", .timeLimit(.minutes(15)))
struct TokenTableTests {
  static let token = "0123456789abcdef"

  @Test("a token file has names, comments, blank lines and any line ends")
  func reading() throws {
    let table = try TokenTable(
      parsing: """
        # comment

        alice \(Self.token)
         \tbob\t\tsecond-token-0123 \r
          # another 0123456789abcdefghi
        alice #third-token-0123
        """.utf8)
    #expect(table.identity(of: Self.token.utf8) == Identity("alice"))
    #expect(table.identity(of: "second-token-0123".utf8) == Identity("bob"))
    #expect(table.identity(of: "#third-token-0123".utf8) == Identity("alice"))
    #expect(table.identities == [Identity("alice"), Identity("bob")])
  }

  @Test(
    "an invalid token file is refused with the line, and without the token",
    arguments: [
      ("a \(token)\nb", 2, "name and a token"),
      ("\n\nb \(token) x", 3, "name and a token"),
      ("b 0123456789abcde", 1, "16 to 512"),
      ("b \(String(repeating: "x", count: 513))", 1, "16 to 512"),
      ("a \(token)\nb \(token)", 2, "above"),
      ("b 0123456789abcdé", 1, "ASCII"),
      ("b 0123456789\u{1}abcdef", 1, "ASCII"),
      ("\(String(repeating: "n", count: 65)) \(token)", 1, "64 bytes"),
      ("", nil, "no token"),
      ("# a \(token)\n\n", nil, "no token"),
    ])
  func refusals(text: String, line: Int?, message: String) {
    let error = #expect(throws: TokenFileError.self) { try TokenTable(parsing: text.utf8) }
    #expect(error?.line == line)
    let description = error?.description ?? ""
    #expect(description.contains(message))
    #expect(!description.contains("01234") && !description.contains("xxx"))
  }

  @Test("tokens are compared by all their bytes, wherever they differ")
  func everyByte() throws {
    for count in [16, 17, 63, 512] {
      let token = (0..<count).map { UInt8(0x41 + $0 % 26) }
      let table = try TokenTable(parsing: Array("someone ".utf8) + token)
      #expect(table.identity(of: token) == Identity("someone"))
      for index in token.indices {
        for bit in [UInt8(1), 0x80] {
          var other = token
          other[index] ^= bit
          #expect(table.identity(of: other) == nil)
        }
      }
      #expect(table.identity(of: token.dropLast()) == nil)
      // Padding is not part of a token, and neither are bytes after the maximum length.
      #expect(table.identity(of: token + [0]) == nil)
      #expect(table.identity(of: token + [UInt8](repeating: 0, count: 600)) == nil)
      #expect(table.identity(of: []) == nil)
    }
  }
}
