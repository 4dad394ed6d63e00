// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import Testing

private struct Mute: Encodable { var text = "" }

/// A type of which nothing is known: it requests no value before it fails.
private struct Opaque: Codable {
  init(from decoder: any Decoder) throws { throw JSONError(.value, "never") }
  func encode(to encoder: any Encoder) throws {}
}

private struct Card: Codable {
  var title: String
  var place: Opaque
  var due: Date?
}
private struct Board: Codable {
  var columns: [String: [Card]]
  var owner: Opaque?
  var id: UUID
}
private enum Input: Codable {
  case moved(to: Int, through: Opaque, last: Bool)
  case removed
}

private struct Documented: Codable, SchemaDocumented {
  var title: String
  var shade: Shade?
  var home: Inner
  static let schemaDescription: String? = "A task."
  static let memberDescriptions = [
    "title": "The text on it.", "home": "Where it is.", "colour": "No member.",
  ]
}
private struct Inner: Codable { var x: Int }
private enum Shade: String, Codable, SchemaDocumented {
  case light, dark
  static let memberDescriptions = ["light": "For the day."]
}
private enum Event: Codable, SchemaDocumented {
  case rang(times: Int)
  case over
  static let memberDescriptions = ["rang": "The bell rang.", "rang.times": "How often."]
}

@Suite("Warnings and descriptions of schemas", .timeLimit(.minutes(15)))
struct SchemaWarningTests {
  private let schemas = JSONSchemas()

  private func definition(_ name: String, of schema: JSONSchema) -> JSONValue? {
    schemas.finished(schema.value, prefix: "#/").definitions[name]
  }

  private func warnings() -> [String] {
    schemas.takeWarnings().map { "\($0.path.joined(separator: ".")): \($0.message)" }
  }

  @Test("only a member that no schema can describe is anything, and a warning names it")
  func member() throws {
    let board = schemas.written(Board.self)
    let fault =
      "Opaque cannot be decoded from small values, and does not describe itself (JSONDescribed)"
    #expect(warnings() == ["columns.place: \(fault)", "owner: \(fault)"])
    #expect(
      definition("Board", of: board) == [
        "title": "Board", "type": "object",
        "properties": [
          "columns": [
            "type": "object",
            "additionalProperties": ["type": "array", "items": ["$ref": "#/Card"]],
          ],
          "owner": ["anyOf": [["$ref": "#/Opaque"], ["type": "null"]]],
          "id": [
            "type": "string", "format": "uuid",
            "examples": ["00000000-0000-0000-0000-000000000000"],
          ],
        ],
        "required": ["columns", "owner", "id"],
      ])
    #expect(
      definition("Card", of: board)?["properties"]?.object?.map(\.key) == ["title", "place", "due"])
    // Another kind with the same type has the same warnings.
    _ = schemas.written([Card].self)
    #expect(warnings() == ["place: \(fault)"])
    _ = schemas.written([Int].self)
    #expect(warnings().isEmpty)
  }

  @Test("a payload that no schema can describe leaves the other cases as they are")
  func payload() throws {
    let input = schemas.read(Input.self)
    #expect(
      warnings() == [
        "moved.through: Opaque cannot be decoded from small values, and does not describe itself"
          + " (JSONDescribed)",
        "moved.last: the type of this member is not known, because decoding stops at a member"
          + " before it",
      ])
    let cases = definition("Input", of: input)?["oneOf"]?.array ?? []
    #expect(cases.count == 2)
    #expect(cases.first?["properties"]?["to"] == ["type": "integer"])
    #expect(cases.first?["properties"]?["last"] == [:])
  }

  @Test("a type that is only encoded is anything, and a warning names it")
  func notDecodable() throws {
    _ = schemas.written(Mute.self)
    #expect(warnings() == [": Mute is not Decodable and does not describe itself (JSONDescribed)"])
  }

  @Test("the descriptions beside a type are in its schema")
  func descriptions() throws {
    let schema = schemas.read(Documented.self)
    #expect(
      warnings() == [
        ": memberDescriptions of Documented has \"colour\", which is not a member"
      ])
    #expect(
      definition("Documented", of: schema) == [
        "title": "Documented", "type": "object",
        "properties": [
          "title": ["type": "string", "description": "The text on it."],
          "shade": ["anyOf": [["$ref": "#/Shade"], ["type": "null"]]],
          "home": ["description": "Where it is.", "allOf": [["$ref": "#/Inner"]]],
        ],
        "required": ["title", "home"], "description": "A task.",
      ])
    #expect(
      definition("Shade", of: schema) == [
        "title": "Shade", "type": "string", "enum": ["light", "dark"],
        "x-enum-descriptions": ["light": "For the day."],
      ])
    let rang = definition("Event", of: schemas.written(Event.self))?["oneOf"]?[0]
    #expect(rang?["description"] == "The bell rang.")
    #expect(
      rang?["properties"]?["times"] == ["type": "integer", "description": "How often."])
  }

  @Test("containers inside of a type are described")
  func nestedContainers() throws {
    let length = schemas.read(Measurement<UnitLength>.self)
    #expect(warnings().isEmpty)
    let unit = definition("Measurement", of: length)?["properties"]?["unit"]
    #expect(unit?["properties"]?["symbol"] == ["type": "string"])
  }
}
