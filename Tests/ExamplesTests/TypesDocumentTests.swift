// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@testable import TypesServer

/// The table of docs/reference/types.md: a row for each member of `AllTypes`.
///
/// `UPDATE_TYPES=1` writes the table; then the document is read and committed.
@Suite("The table of types", .timeLimit(.minutes(15)))
struct TypesDocumentTests {
  private static let document = TestedPackage.root.appending(path: "docs/reference/types.md")
  private static let program = TestedPackage.program("TypesServer")
  private static let begin = "<!-- Table: begin -->\n"
  private static let end = "<!-- Table: end -->"

  @Test("is that of the program")
  func table() throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    let start = try #require(text.range(of: Self.begin)).upperBound
    let end = try #require(text.range(of: Self.end)).lowerBound
    let wanted = try Self.table()
    if ProcessInfo.processInfo.environment["UPDATE_TYPES"] != nil {
      try text.replacingCharacters(in: start..<end, with: wanted)
        .write(to: Self.document, atomically: true, encoding: .utf8)
      return
    }
    let rows = text[start..<end].split(separator: "\n").map(String.init)
    for row in wanted.split(separator: "\n").map(String.init) {
      #expect(rows.contains(row), "docs/reference/types.md is old; UPDATE_TYPES=1 writes it")
    }
    #expect(rows.count == wanted.split(separator: "\n").count)
  }

  @Test("no type of the table is without a schema")
  func warnings() throws {
    let result = try ProgramResult(of: Self.program, ["schema"])
    #expect(result.status == 0)
    #expect(result.errors == "")
  }

  // MARK: - Making the table

  private static func table() throws -> String {
    let schema = try ProgramResult(of: program, ["schema"]).output
    let schemas = try #require(
      try JSONValue(parsing: schema)["components"]?["schemas"])
    let folder = try TestFolder()
    try schema.write(toFile: folder.file("schema"), atomically: true, encoding: .utf8)
    let typeScript = try generated("typescript", folder.file("schema"))
    let python = try generated("python", folder.file("schema"))
    let forms = try JSON.value(AllTypes())
    var rows = [
      "| Swift | JSON | schema | TypeScript | Python |", "| --- | --- | --- | --- | --- |",
    ]
    for case (let member?, let value) in Mirror(reflecting: AllTypes()).children {
      let property = schemas["AllTypes"]?["properties"]?[member]
      let cells = [
        name(of: type(of: value)), "\(forms[member] ?? .null)",
        described(try #require(property), in: schemas), try #require(typeScript[member]),
        try #require(python[member]),
      ]
      rows.append("| " + cells.map(code).joined(separator: " | ") + " |")
    }
    return rows.joined(separator: "\n") + "\n"
  }

  /// The name of a type as a program writes it.
  private static func name(of type: Any.Type) -> String {
    var name = "\(type)"
    for (pattern, replacement) in [
      (#"Dictionary<([^<>]+), ([^<>]+)>"#, "[$1: $2]"), (#"(?<![a-z])Array<([^<>]+)>"#, "[$1]"),
      (#"Optional<([^<>]+)>"#, "$1?"),
    ] {
      name = name.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
    }
    return name
  }

  /// A schema without titles and examples, with the schemas that it refers to.
  private static func described(_ schema: JSONValue, in schemas: JSONValue) -> String {
    func inlined(_ value: JSONValue, _ depth: Int) -> JSONValue {
      switch value {
      case .array(let elements): return .array(elements.map { inlined($0, depth) })
      case .object(let members):
        if let target = value["$ref"]?.string?.split(separator: "/").last, depth < 3 {
          return inlined(schemas[String(target)] ?? .null, depth + 1)
        }
        let kept = members.filter { key, value in
          !["title", "examples"].contains(key) || value.object != nil
        }
        return .object(JSONObject(kept.map { ($0.key, inlined($0.value, depth)) }))
      default: return value
      }
    }
    return "\(inlined(schema, 0))"
  }

  /// The types of the members of `AllTypes` that a generator writes, by member.
  private static func generated(_ language: String, _ schemas: String) throws -> [String: String] {
    let result = try ProgramResult(
      of: TestedPackage.program("statewire"),
      ["types", "--protocol", "--schema", schemas, "--language", language])
    let text = result.output
    let start = try #require(
      text.range(
        of: #"(interface AllTypes \{|AllTypes = TypedDict\(\n *"AllTypes",\n *\{)\n"#,
        options: .regularExpression))
    var types: [String: String] = [:]
    for line in text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false) {
      guard let colon = line.firstIndex(of: ":"), line.hasPrefix("  ") else { break }
      let member = line[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: " ?\""))
      let type = line[line.index(after: colon)...].trimmingCharacters(
        in: CharacterSet(charactersIn: " ;,\""))
      types[member] = alias(type, in: text) ?? type
    }
    return types
  }

  /// The type that a generated name stands for, if it is an alias.
  private static func alias(_ name: String, in text: String) -> String? {
    for line in text.split(separator: "\n") {
      for prefix in ["export type \(name) = ", "\(name): TypeAlias = "] where line.hasPrefix(prefix)
      {
        return line.dropFirst(prefix.count).trimmingCharacters(in: CharacterSet(charactersIn: ";"))
      }
    }
    return nil
  }

  private static func code(_ text: String) -> String {
    let shown = text.count <= 200 ? text : text.prefix(120) + "…"
    return "`" + shown.replacingOccurrences(of: "|", with: "\\|") + "`"
  }
}
