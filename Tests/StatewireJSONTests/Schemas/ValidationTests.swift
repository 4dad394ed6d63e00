// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireJSON

@Suite("Checking values against schemas")
struct ValidationTests {
  private static let tree = """
    {"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string", "minLength": 1}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}}}
    """
  private static let forms = """
    {"oneOf": [
      {"type": "object", "properties": {"type": {"const": "add"}, "by": {"type": "integer"}}, "required": ["type", "by"]},
      {"type": "object", "properties": {"type": {"const": "reset"}}, "required": ["type"]}
    ]}
    """

  private func fault(
    _ value: String, _ schema: String, maximumWork: Int = 1_000_000
  ) throws -> String? {
    guard case .object(let keywords) = try JSONValue(parsing: schema) else {
      Issue.record("the schema is not an object")
      return nil
    }
    let value = try JSONValue(parsing: value)
    do throws(JSONError) {
      let schema = JSONSchema(keywords)
      try schema.check(value, in: schema, maximumWork: maximumWork)
      return nil
    } catch {
      return "\(error.pathDescription): \(error.message)"
    }
  }

  @Test(
    "values that fit are accepted",
    arguments: [
      ("1", #"{"type": "integer"}"#), ("1.0", #"{"type": "integer"}"#),
      ("1e300", #"{"type": "number"}"#), ("null", #"{"type": ["string", "null"]}"#),
      ("\"a\"", #"{"enum": ["a", "b"]}"#),
      ("[1, \"a\"]", #"{"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}"#),
      ("\"éé\"", #"{"type": "string", "maxLength": 2}"#),
      (#"{"a": 1, "b": 2}"#, #"{"properties": {"a": {"type": "integer"}}}"#),
      (#"{"name": "x", "children": [{"name": "y"}]}"#, tree),
      (#"{"type": "reset"}"#, forms), (#"{"type": "add", "by": 3}"#, forms),
      ("1", ##"{"$ref": "#/$defs/Loop", "$defs": {"Loop": {"$ref": "#/$defs/Loop"}}}"##),
      ("1", #"{"$ref": "https://example.com/schema"}"#),
    ])
  func fits(value: String, schema: String) throws { #expect(try fault(value, schema) == nil) }

  @Test(
    "the error has the path to the first part that does not fit",
    arguments: [
      ("1.5", #"{"type": "integer"}"#, ": the value is not of the type integer"),
      ("\"c\"", #"{"enum": ["a", "b"]}"#, ": the value is not one of the allowed values"),
      ("0", #"{"exclusiveMinimum": 0}"#, ": the number must be greater than 0.0"),
      ("[1, 2]", #"{"maxItems": 1}"#, ": the number of elements must be at most 1"),
      (
        #"{"a": {"b": ["x", 1]}}"#,
        #"{"properties": {"a": {"properties": {"b": {"items": {"type": "string"}}}}}}"#,
        "/a/b/1: the value is not of the type string"
      ),
      (
        #"{"name": "x", "children": [{"name": ""}]}"#, tree,
        "/children/0/name: the length of the string must be at least 1"
      ),
      (#"{"name": "x", "children": [{}]}"#, tree, "/children/0/name: a member is missing"),
      (
        #"{"b": 1}"#, #"{"properties": {"a": {}}, "additionalProperties": false}"#,
        "/b: no value is allowed here"
      ),
      (#"{"type": "add", "by": "x"}"#, forms, "/by: the value is not of the type integer"),
      (#"{"type": "else"}"#, forms, "/type: the type is none of add, reset"),
      (#"{"by": 1}"#, forms, ": the value fits none of the allowed forms"),
      (
        "1", #"{"oneOf": [{"type": "integer"}, {"type": "number"}]}"#,
        ": the value fits more than one of the allowed forms"
      ),
      ("1", #"{"not": {"type": "integer"}}"#, ": the value is not allowed"),
    ])
  func faults(value: String, schema: String, expected: String) throws {
    #expect(try fault(value, schema) == expected)
  }

  // Each of them kept the loop of all stores busy for seconds, although it is few steps.
  @Test("a comparison that takes too long is refused, whatever takes long")
  func work() throws {
    func list(_ text: String, _ count: Int) -> String {
      Array(repeating: text, count: count).joined(separator: ",")
    }
    let forms = (0..<200).map { #"{"properties":{"type":{"const":"t\#($0)"}}}"# }
    let cases = [
      (
        "\"\(String(repeating: "a", count: 10_000))\"",
        "{\"allOf\":[\(list(#"{"minLength":1}"#, 200))]}"
      ),
      (
        "[\(list(#"{"a":1}"#, 200))]", "{\"items\":{\"required\":[\(list("\"a\"", 1_000))]}}"
      ),
      ("[\(list("\"z\"", 200))]", "{\"items\":{\"enum\":[\(list("\"a\"", 1_000)),\"z\"]}}"),
      (
        "[\(list(#"{"type":"t1"}"#, 200))]",
        "{\"items\":{\"oneOf\":[\(forms.joined(separator: ","))]}}"
      ),
    ]
    for (value, schema) in cases {
      #expect(try fault(value, schema) == nil)
      let fault = try fault(value, schema, maximumWork: 10_000)
      #expect(fault?.contains("takes too long") == true, "\(fault ?? "fits")")
    }
  }
}
