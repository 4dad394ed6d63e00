// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("README", .timeLimit(.minutes(15)))
struct ReadmeTests {
  @Test("the command of \"Talk to it\" has the output that README shows")
  func talk() throws {
    let text = try String(
      contentsOf: TestedPackage.root.appending(path: "README.md"), encoding: .utf8)
    let part = try #require(text.components(separatedBy: "**Talk to it.**").last)
    let command = try block("sh", in: part)
      .replacingOccurrences(
        of: ".build/debug/statewire", with: "'\(TestedPackage.program("statewire"))'")
    let folder = try TestFolder()
    let result = try ProgramResult(
      of: "/bin/sh", ["-c", command], environment: ["XDG_STATE_HOME": folder.path])
    #expect(result.status == 0)
    #expect(try result.output == block("text", in: part))
  }

  /// Returns the first code block of a language.
  private func block(_ language: String, in text: String) throws -> String {
    let start = try #require(text.range(of: "```\(language)\n")).upperBound
    let end = try #require(text.range(of: "```", range: start..<text.endIndex)).lowerBound
    return String(text[start..<end])
  }
}
