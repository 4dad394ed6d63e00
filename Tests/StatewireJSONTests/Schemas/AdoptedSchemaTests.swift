// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireJSON

@Suite("Adopted schemas")
struct AdoptedSchemaTests {
  /// A Swift type with a definition, to which no program can refer.
  private struct Own: Codable { let flag: Bool }

  private func adopted(_ schema: JSONObject) -> (schema: JSONValue, definitions: JSONObject) {
    let schemas = JSONSchemas()
    let own = schemas.written(Own.self)
    let result = schemas.adopt(JSONSchema(schema), namedAfter: "kind")
    let finished = schemas.finished(
      ["own": own.value, "adopted": result.value], prefix: "#/definitions/")
    return (finished.document["adopted"] ?? nil, finished.definitions)
  }

  @Test("references lead into the definitions of the program")
  func definitions() {
    let (schema, definitions) = adopted([
      "type": "object", "title": "T", "oneOf": [["$ref": "#/$defs/A"]],
      "$defs": ["A": ["properties": ["next": ["$ref": "#/$defs/A"]]]],
    ])
    #expect(
      schema == [
        "type": "object", "title": "T", "oneOf": [["$ref": "#/definitions/kindA"]],
      ])
    #expect(
      definitions["kindA"]?["properties"]?["next"] == ["$ref": "#/definitions/kindA"])
  }

  // A number is the internal form of a reference to a Swift type: it ended the server, or led to
  // another schema.
  @Test(
    "references that lead to nothing in the definitions allow every value",
    arguments: [
      "0", "100000", "-1", "#", "#/properties/a", "adopted:x", "https://example.com/s", "",
    ])
  func otherTargets(target: String) {
    let (schema, _) = adopted(["items": ["$ref": .string(target), "title": "T"]])
    #expect(schema == ["items": ["title": "T"]])
  }

  @Test("data is not changed, and members may have the names of keywords")
  func data() {
    let reference: JSONValue = ["$ref": "7777777"]
    let schema: JSONObject = [
      "const": reference, "enum": [reference], "default": ["a": reference], "examples": [reference],
    ]
    #expect(adopted(schema).schema == .object(schema))
    let named = adopted(["properties": ["const": ["$ref": "#/$defs/A"], "$ref": ["type": "null"]]])
    #expect(
      named.schema == [
        "properties": ["const": ["$ref": "#/definitions/kindA"], "$ref": ["type": "null"]]
      ])
  }
}
