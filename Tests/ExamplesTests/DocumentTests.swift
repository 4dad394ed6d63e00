// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The Swift code in the documents.
///
/// Each block stands letter by letter, apart from its indentation, in a file that is compiled. The
/// files of docs/tutorial.md are compiled and run by Scripts/check-tutorial instead.
@Suite("Swift in the documents")
struct DocumentTests {
  static let documents = [
    "README.md", "docs/effects.md", "docs/testing.md", "docs/embedding.md",
    "docs/reference/types.md", "docs/shared-stores.md", "docs/storage.md",
  ]

  /// Folders whose files are compiled.
  private static let folders = ["Examples", "Tests/ExamplesTests", "clients/swift/Sources"]

  @Test("is compiled", arguments: documents)
  func isCompiled(document: String) throws {
    let sources = try Self.sources()
    for block in Self.blocks(of: try Self.text(document)) {
      #expect(
        sources.contains { $0.contains(block) },
        "\(document) shows code that no file of \(Self.folders) has:\n\(block)")
    }
  }

  @Test("is found, whatever its indentation")
  func isFound() throws {
    let document = "A\n```swift\nlet a = 1\n\nlet b = 2\n```\nB\n```sh\nls\n```\n"
    #expect(Self.blocks(of: document) == ["\nlet a = 1\n\nlet b = 2\n"])
    let source = "enum C {\n  static func c() {\n    let a = 1\n\n    let b = 2\n  }\n}\n"
    #expect(Self.variants(of: source).contains { $0.contains("\nlet a = 1\n\nlet b = 2\n") })
    #expect(!Self.variants(of: source).contains { $0.contains("\nlet a = 1\nlet b = 2\n") })
  }

  /// The Swift blocks of a document, with a line break at each end.
  private static func blocks(of document: String) -> [String] {
    document.components(separatedBy: "```swift\n").dropFirst()
      .map { "\n" + $0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex) }
  }

  private static func sources() throws -> [String] {
    try folders.flatMap { folder in
      let files = try FileManager.default.subpathsOfDirectory(
        atPath: TestedPackage.root.appending(path: folder).path)
      return try files.filter { $0.hasSuffix(".swift") }
        .flatMap { variants(of: try text("\(folder)/\($0)")) }
    }
  }

  /// A source, and the same with less indentation.
  private static func variants(of source: String) -> [String] {
    [0, 2, 4, 6].map { depth in
      source.replacingOccurrences(of: "\n" + String(repeating: " ", count: depth), with: "\n")
    }
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: TestedPackage.root.appending(path: path), encoding: .utf8)
  }
}
