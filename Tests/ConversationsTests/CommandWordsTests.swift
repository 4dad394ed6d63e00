// SPDX-License-Identifier: Apache-2.0

import Conversations
import Testing

@Suite("Command words")
struct CommandWordsTests {
  @Test("a command is split into words as by a shell")
  func words() throws {
    for (text, words) in [
      ("", []), ("  ", []), ("a", ["a"]), (" a  b\tc ", ["a", "b", "c"]),
      ("a 'b c' d", ["a", "b c", "d"]), ("a \"b c\" d", ["a", "b c", "d"]),
      ("a''b", ["ab"]), ("'' \"\"", ["", ""]), ("a'b'\"c\"", ["abc"]),
      ("'a\\'", ["a\\"]), ("\"a\\\"b\"", ["a\"b"]), ("a\\ b", ["a b"]), ("\"it's\"", ["it's"]),
      ("$HOME *|;", ["$HOME", "*|;"]),
    ] as [(String, [String])] {
      #expect(try CommandWords.split(text) == words, "\(text)")
    }
  }

  @Test("an unended quotation and a trailing backslash are errors")
  func faults() {
    for text in ["'a", "\"a", "a'", "\"a\\\""] {
      #expect(throws: CommandWords.Fault.unendedQuotation) { try CommandWords.split(text) }
    }
    #expect(throws: CommandWords.Fault.trailingBackslash) { try CommandWords.split("a\\") }
  }
}
