// SPDX-License-Identifier: Apache-2.0

import ClientTypes
import Foundation
import StatewireJSON
import TestSupport
import Testing

/// The expected texts for a document with everything that needs care: `Golden/odd.json`.
///
/// `UPDATE_GOLDEN=1 make test FILTER=ClientTypesTests` writes them. `Tests/Scripts/typed-clients`
/// compiles those in TypeScript, Python and Kotlin; the one in Swift is a file of this target.
@Suite("Generated texts")
struct GoldenTests {
  private static let folder = TestedPackage.root.appending(path: "Tests/ClientTypesTests")

  static func document() throws -> JSONValue {
    let file = folder.appending(path: "Golden/odd.json")
    return try JSONValue(parsing: String(contentsOf: file, encoding: .utf8))
  }

  @Test(
    "are those of the golden files",
    arguments: [
      (ClientTypes.Language.typescript, "Golden/odd.ts"), (.python, "Golden/odd.py"),
      (.kotlin, "Golden/odd.kt"), (.swift, "GeneratedOdd.swift"),
    ])
  func isGolden(_ language: ClientTypes.Language, _ name: String) throws {
    var options = ClientTypes.Options()
    options.package = "odd"
    var text = try ClientTypes(of: Self.document()).text(in: language, options)
    if language == .swift { text = "// SPDX-License-Identifier: Apache-2.0\n" + text }
    let file = Self.folder.appending(path: name)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try Data(text.utf8).write(to: file)
    }
    // A message instead of the texts, which are long.
    #expect(try text == String(contentsOf: file, encoding: .utf8), "\(name) is old")
  }

  @Test("are the same each time", arguments: ClientTypes.Language.allCases)
  func isDeterministic(_ language: ClientTypes.Language) throws {
    let document = try Self.document()
    let texts = try (0..<3).map { _ in try ClientTypes(of: document).text(in: language) }
    #expect(Set(texts).count == 1)
  }

  @Test(
    "do not change if a type of the server is renamed", arguments: ClientTypes.Language.allCases)
  func isStable(_ language: ClientTypes.Language) throws {
    let document = try Self.document()
    var text = document.description
    for name in ["SwiftInput", "SwiftState", "Card", "Column", "Node", "Linked", "Expression"] {
      text = text.replacing("\"\(name)\"", with: "\"Renamed\(name)\"")
        .replacing("schemas/\(name)\"", with: "schemas/Renamed\(name)\"")
    }
    let renamed = try JSONValue(parsing: text)
    #expect(renamed != document)
    let before = try ClientTypes(of: document).text(in: language)
    #expect(try ClientTypes(of: renamed).text(in: language) == before)
  }

  @Test("have the same types for one kind as for all", arguments: ClientTypes.Language.allCases)
  func isIndependentOfSelection(_ language: ClientTypes.Language) throws {
    let all = try ClientTypes(of: Self.document()).text(in: language)
    let one = try ClientTypes(of: Self.document(), kinds: ["oddKind"]).text(in: language)
    #expect(!one.contains("OddKindStateColumn"))
    #expect(one.contains("OddKind2State"))
    // All lines but the imports and helpers.
    let lines = one.split(separator: "\n").filter { $0.contains("OddKind2") }
    for line in lines { #expect(all.contains(line), "\(line)") }
  }
}
