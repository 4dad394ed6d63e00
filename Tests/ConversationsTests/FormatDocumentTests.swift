// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Conversations

@Suite("Format document")
struct FormatDocumentTests {
  /// The path of `Protocol/Conversations/README.md` in this package.
  static let path =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/") + "/Protocol/Conversations/README.md"

  @Test("the examples in the document can be parsed")
  func examples() throws {
    let lines = SourceLine.lines(of: try TextFile.read(Self.path))
    let blocks = lines.split { !$0.bytes.starts(with: "    ".utf8) }
      .map { $0.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "\n") }
      .filter { $0.contains("-->") }
    #expect(blocks.count == 3)
    for block in blocks {
      #expect(throws: Never.self) { try conversation(block) }
    }
  }
}
