// SPDX-License-Identifier: Apache-2.0

import ProcessStores
import Testing

@Suite("Commands of programs")
struct ProgramCommandTests {
  @Test(
    "a text is divided into words as by a shell",
    arguments: [
      ("python3 counter.py", ["python3", "counter.py"]),
      ("  a\tb  ", ["a", "b"]),
      (#"sh -c 'echo "$1"'"#, ["sh", "-c", #"echo "$1""#]),
      (#""a b"c 'd'\ e"#, ["a bc", "d e"]),
      (#"a "\"\\x\y""#, ["a", #""\x\y"#]),
      ("a ''", ["a", ""]),
      ("é ü", ["é", "ü"]),
    ])
  func words(text: String, words: [String]) throws {
    #expect(try ProgramCommand(parsing: text).words == words)
  }

  @Test(
    "a text that is not a command is refused with the reason",
    arguments: [
      ("", "the command is empty"), ("  ", "the command is empty"), ("''", "the command is empty"),
      ("a 'b", "the command has an opening ' without a closing one"),
      ("a \"b", "the command has an opening \" without a closing one"),
      (#"a \"#, "the command ends with a backslash"),
    ])
  func faults(text: String, reason: String) throws {
    let error = #expect(throws: ProgramCommand.ParsingError.self) {
      try ProgramCommand(parsing: text)
    }
    #expect(error?.description == reason)
  }
}
