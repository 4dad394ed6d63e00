// SPDX-License-Identifier: Apache-2.0

import ClientTypes
import StatewireJSON
import Testing

@Suite("Documents that cannot be used")
struct DocumentTests {
  private func check(
    _ document: JSONValue, kinds: [String]? = nil, _ message: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(sourceLocation: location) {
      _ = try ClientTypes(of: document, kinds: kinds)
    } throws: {
      "\($0)".contains(message)
    }
  }

  private func document(
    _ state: JSONValue, schemas: JSONValue = [:], input: JSONValue = ["type": "object"]
  ) -> JSONValue {
    [
      "openrpc": "1.3.2", "components": ["schemas": schemas],
      "x-stores": ["a": ["viewState": state, "input": input], "b": ["viewState": true]],
    ]
  }

  @Test("that are no OpenRPC documents are named")
  func otherDocuments() {
    check([:], "not an OpenRPC document")
    check("text", "not an OpenRPC document")
    check(["openrpc": "1.3.2"], "\"x-stores\" is missing")
    check(["openrpc": "1.3.2", "x-stores": [:]], "\"components.schemas\" is missing")
  }

  @Test("unknown kinds are named, with the known ones")
  func unknownKinds() {
    check(document(true), kinds: ["a", "c"], "there is no kind \"c\"; the kinds are: a, b")
    check(
      ["openrpc": "1.3.2", "x-stores": [:], "components": ["schemas": [:]]], kinds: ["c"],
      "the server has no kinds")
  }

  @Test("references without a target are named")
  func danglingReferences() {
    let missing: JSONValue = ["$ref": "#/components/schemas/Missing"]
    check(document(missing), "\"#/components/schemas/Missing\"")
    check(document(["type": "array", "items": missing]), "\"#/components/schemas/Missing\"")
    check(document(["$ref": "file.json"]), "\"file.json\"")
  }

  @Test(
    "schemas that contain themselves without a type between are errors",
    arguments: [
      ["$ref": "#/components/schemas/A"],
      ["oneOf": [["$ref": "#/components/schemas/A"], ["$ref": "#/components/schemas/A"]]],
      ["allOf": [["$ref": "#/components/schemas/A"], ["type": "object"]]],
      ["allOf": [["$ref": "#/components/schemas/A"]]],
    ] as [JSONValue])
  func endlessSchemas(_ schema: JSONValue) {
    let reference: JSONValue = ["$ref": "#/components/schemas/A"]
    check(document(reference, schemas: ["A": schema]), "itself")
    check(
      document(["properties": ["member": reference]], schemas: ["A": schema]), "itself")
  }

  @Test("schemas of unknown forms allow any value")
  func unknownForms() throws {
    for schema in [true, false, [:], ["type": "unknown"], ["not": ["type": "string"]]]
      as [JSONValue]
    {
      let text = try ClientTypes(of: document(schema), kinds: ["a"]).text(in: .typescript)
      #expect(text.contains("export type AState = Json;"))
    }
  }

  // Looking for objects in such a union never ended.
  @Test(
    "a union that contains itself has types in each language",
    arguments: ClientTypes.Language.allCases)
  func recursiveUnions(_ language: ClientTypes.Language) throws {
    let reference: JSONValue = ["$ref": "#/components/schemas/A"]
    let cases: [JSONValue] = ["a", "b"].map {
      ["type": "object", "required": ["type"], "properties": ["type": ["const": .string($0)]]]
    }
    for other: JSONValue in [
      ["type": "object", "additionalProperties": ["type": "string"]], ["oneOf": .array(cases)],
      ["type": "string"],
    ] {
      let document = document(
        reference, schemas: ["A": ["anyOf": [other, reference]]], input: reference)
      #expect(try !ClientTypes(of: document, kinds: ["a"]).text(in: language).isEmpty)
    }
  }

  @Test("unions within unions are each read once", arguments: ["anyOf", "oneOf"])
  func nestedUnions(_ keyword: String) throws {
    var schema: JSONValue = ["type": "string"]
    for _ in 0..<60 { schema = [keyword: [schema]] }
    let text = try ClientTypes(of: document(["type": "string"], input: schema), kinds: ["a"])
      .text(in: .typescript)
    #expect(text.contains("Input = string"))
  }
}
