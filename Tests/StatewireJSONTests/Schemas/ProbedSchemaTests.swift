// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import Testing

/// Returns the schemas of types and of the types that they refer to, by name.
private func definitions(
  _ types: (read: Any.Type?, written: Any.Type?)
) throws -> [String: JSONValue] {
  let schemas = JSONSchemas()
  let read = types.read.map { schemas.read($0) }
  let written = types.written.map { schemas.written($0) }
  let document: JSONValue = [
    "read": read?.value ?? .null, "written": written?.value ?? .null,
  ]
  let finished = schemas.finished(document, prefix: "#/")
  var all = Dictionary(uniqueKeysWithValues: finished.definitions.map { ($0.key, $0.value) })
  all["(read)"] = finished.document["read"]
  all["(written)"] = finished.document["written"]
  return all
}

private func check(
  read: Any.Type? = nil, written: Any.Type? = nil, _ name: String, _ expected: String,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let found = try definitions((read, written))[name]
  let wanted = try JSONValue(parsing: expected)
  #expect(found == wanted, "\(found?.description ?? "nothing")", sourceLocation: sourceLocation)
}

private enum Chess {
  struct Square: Codable, Hashable {
    var file: String
    var rank: UInt8
  }
  enum Color: String, Codable {
    case white = "w"
    case black
  }
  enum Level: Int, Codable {
    case low = 1
    case high = 5
  }
  enum Input: Codable {
    case moved(from: Square, to: Square, promotion: String?)
    case resigned
    case labelled(type: Int, Bool)
  }
  struct Game: Codable {
    var toMove: Color?
    var level: Level
    var taken: [Square]
    var names: [String: Color]
    var marks: Set<Int>
    var clock: Double
    var anything: JSONValue
  }
  enum Lonely: Codable { case only }
  struct Empty: Codable {}
  struct Wrapped: Codable {
    var moves: Moves
    var level: Level
  }
  struct Moves: Codable {
    var count: Int
    init(from decoder: any Decoder) throws {
      count = try decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(count)
    }
  }
}

/// Recursive types.
private enum Nested {
  indirect enum Tree: Codable {
    case node(Tree, Tree)
    case leaf(value: Int)
    case boxed(Box)
  }
  struct Box: Codable { var tree: Tree }
  final class Chain: Codable { var next: Chain? }
  struct Folder: Codable { var folders: [Folder] }
  final class Endless: Codable { let more: Endless }
}

/// Types whose structure cannot be found by decoding.
private enum Odd {
  struct Even: Codable {
    var number: Int
    init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(Int.self)
      if number == 0 { throw JSONError(.value, "no zero") }
    }
  }
  struct Picky: Codable {
    let kind: String
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      kind = try container.decode(String.self, forKey: .kind)
      if kind != "good" { throw JSONError(.value, "bad") }
    }
  }
  struct Holder: Codable {
    var before: Int
    var picky: Picky
    var after: Int
    var last: String?
    enum CodingKeys: String, CodingKey {
      case before, picky, last
      case after = "later"
    }
  }
  /// Describes itself, so that the structure of a type that contains it can be found.
  struct Code: Codable, JSONDescribed {
    let text: String
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
      if text.isEmpty { throw JSONError(.value, "empty") }
    }
    static func schema(in schemas: JSONSchemas) -> JSONSchema { .string(example: "a") }
  }
  struct Ticket: Codable {
    var code: Code
    var participant: Int
  }
}

@Suite("Probed schemas of Codable types", .timeLimit(.minutes(15)))
struct ProbedSchemaTests {
  @Test("a struct is an object; an optional may be missing when read, and is null when written")
  func structs() throws {
    let properties = """
      {"toMove": {"anyOf": [{"$ref": "#/ChessColor"}, {"type": "null"}]},
       "level": {"$ref": "#/ChessLevel"},
       "taken": {"type": "array", "items": {"$ref": "#/ChessSquare"}},
       "names": {"type": "object", "additionalProperties": {"$ref": "#/ChessColor"}},
       "marks": {"type": "array", "items": {"type": "integer"}},
       "clock": {"type": "number"}, "anything": {}}
      """
    let others = #""level", "taken", "names", "marks", "clock", "anything""#
    try check(
      written: Chess.Game.self, "ChessGame",
      """
      {"title": "ChessGame", "type": "object", "properties": \(properties),
       "required": ["toMove", \(others)]}
      """)
    try check(
      read: Chess.Game.self, "ChessGame",
      """
      {"title": "ChessGame", "type": "object", "properties": \(properties), "required": [\(others)]}
      """)
    try check(
      written: Chess.Square.self, "ChessSquare",
      """
      {"title": "ChessSquare", "type": "object", "required": ["file", "rank"], "properties":
       {"file": {"type": "string"}, "rank": {"type": "integer", "minimum": 0, "maximum": 255}}}
      """)
    try check(
      written: Chess.Empty.self, "ChessEmpty", #"{"title": "ChessEmpty", "type": "object"}"#)
  }

  @Test("an enum of strings or numbers has the schema of its values")
  func rawEnums() throws {
    try check(
      read: Chess.Color.self, "ChessColor",
      #"{"title": "ChessColor", "type": "string", "enum": ["w", "black"]}"#)
    try check(
      read: Chess.Level.self, "ChessLevel", #"{"title": "ChessLevel", "enum": [1, 5]}"#)
  }

  @Test("an enum with payloads has an object schema for each case, identified by `type`")
  func taggedEnums() throws {
    try check(
      read: Chess.Input.self, "ChessInput",
      """
      {"title": "ChessInput", "oneOf": [
        {"title": "ChessInputMoved", "type": "object", "required": ["type", "from", "to"],
         "properties": {"type": {"type": "string", "const": "moved"},
          "from": {"$ref": "#/ChessSquare"}, "to": {"$ref": "#/ChessSquare"},
          "promotion": {"type": ["string", "null"]}}},
        {"title": "ChessInputResigned", "type": "object", "required": ["type"],
         "properties": {"type": {"type": "string", "const": "resigned"}}},
        {"title": "ChessInputLabelled", "type": "object", "required": ["type", "_type", "_1"],
         "properties": {"type": {"type": "string", "const": "labelled"},
          "_type": {"type": "integer"}, "_1": {"type": "boolean"}}}]}
      """)
    try check(
      read: Chess.Lonely.self, "ChessLonely",
      """
      {"title": "ChessLonely", "oneOf": [{"title": "ChessLonelyOnly", "type": "object",
       "properties": {"type": {"type": "string", "const": "only"}}, "required": ["type"]}]}
      """)
  }

  @Test("a type has two definitions if reading and writing differ, otherwise one")
  func twoDirections() throws {
    let all = try definitions((read: Chess.Game.self, written: Chess.Game.self))
    #expect(all["(read)"] == ["$ref": "#/ChessGameGiven"])
    #expect(all["(written)"] == ["$ref": "#/ChessGame"])
    #expect(all["ChessSquare"] != nil)
    #expect(all["ChessSquareGiven"] == nil)
    // Reading and writing agree although the type is recursive.
    let folders = try definitions((read: Nested.Folder.self, written: Nested.Folder.self))
    #expect(folders.keys.sorted() == ["(read)", "(written)", "NestedFolder"])
  }

  @Test("recursive types have schemas")
  func recursion() throws {
    try check(
      read: Nested.Tree.self, "NestedTree",
      """
      {"title": "NestedTree", "oneOf": [
        {"title": "NestedTreeNode", "type": "object", "required": ["type", "_0", "_1"],
         "properties": {"type": {"type": "string", "const": "node"},
          "_0": {"$ref": "#/NestedTree"}, "_1": {"$ref": "#/NestedTree"}}},
        {"title": "NestedTreeLeaf", "type": "object", "required": ["type", "value"],
         "properties": {"type": {"type": "string", "const": "leaf"}, "value": {"type": "integer"}}},
        {"title": "NestedTreeBoxed", "type": "object", "required": ["type", "_0"],
         "properties": {"type": {"type": "string", "const": "boxed"}, "_0": {"$ref": "#/NestedBox"}}}
        ]}
      """)
    try check(
      read: Nested.Tree.self, "NestedBox",
      """
      {"title": "NestedBox", "type": "object", "properties": {"tree": {"$ref": "#/NestedTree"}},
       "required": ["tree"]}
      """)
    try check(
      read: Nested.Chain.self, "NestedChain",
      """
      {"title": "NestedChain", "type": "object", "properties":
       {"next": {"anyOf": [{"$ref": "#/NestedChain"}, {"type": "null"}]}}}
      """)
    try check(
      read: Nested.Folder.self, "NestedFolder",
      """
      {"title": "NestedFolder", "type": "object", "required": ["folders"], "properties":
       {"folders": {"type": "array", "items": {"$ref": "#/NestedFolder"}}}}
      """)
    // No value of this type can exist.
    try check(read: Nested.Endless.self, "(read)", "{}")
  }

  @Test("a type with a single value has the schema of that value")
  func singleValues() throws {
    try check(
      read: Chess.Wrapped.self, "ChessWrapped",
      """
      {"title": "ChessWrapped", "type": "object", "required": ["moves", "level"], "properties":
       {"moves": {"$ref": "#/ChessMoves"}, "level": {"$ref": "#/ChessLevel"}}}
      """)
    try check(
      read: Chess.Wrapped.self, "ChessMoves", #"{"title": "ChessMoves", "type": "integer"}"#)
    try check(
      read: [Int?].self, "(read)", #"{"type": "array", "items": {"type": ["integer", "null"]}}"#)
    try check(
      read: [Int: Int].self, "(read)",
      """
      {"type": "object", "additionalProperties": {"type": "integer"},
       "propertyNames": {"pattern": "^-?[0-9]+$"}}
      """)
    try check(
      read: [Chess.Color: Int].self, "(read)",
      """
      {"type": "object", "additionalProperties": {"type": "integer"},
       "propertyNames": {"$ref": "#/ChessColor"}}
      """)
    try check(
      read: [Chess.Square: Bool].self, "(read)",
      """
      {"type": "array", "items": {"type": "object", "properties": {
        "key": {"$ref": "#/ChessSquare"}, "value": {"type": "boolean"}},
       "required": ["key", "value"]}}
      """)
    try check(
      read: [Date?].self, "(read)",
      """
      {"type": "array", "items": {"type": ["string", "null"], "format": "date-time",
       "examples": ["2001-01-01T00:00:00Z"]}}
      """)
    try check(
      read: ClosedRange<UInt8>.self, "(read)",
      """
      {"type": "object", "required": ["lowerBound", "upperBound"], "properties": {
        "lowerBound": {"type": "integer", "minimum": 0, "maximum": 255},
        "upperBound": {"type": "integer", "minimum": 0, "maximum": 255}}}
      """)
  }

  @Test("a type whose decoding stops early has the members for which it has coding keys")
  func stopped() throws {
    try check(read: Odd.Even.self, "OddEven", #"{"title": "OddEven", "type": "integer"}"#)
    try check(
      read: Odd.Picky.self, "OddPicky",
      """
      {"title": "OddPicky", "type": "object", "properties": {"kind": {"type": "string"}},
       "required": ["kind"]}
      """)
    try check(
      read: Odd.Holder.self, "OddHolder",
      """
      {"title": "OddHolder", "type": "object", "required": ["before", "picky", "later"],
       "properties": {"before": {"type": "integer"}, "picky": {"$ref": "#/OddPicky"},
        "last": {"type": ["string", "null"]}, "later": {"type": "integer"}}}
      """)
  }

  @Test("a type that describes itself can be contained in a probed type")
  func describedByItself() throws {
    try check(
      read: Odd.Ticket.self, "OddTicket",
      """
      {"title": "OddTicket", "type": "object", "required": ["code", "participant"], "properties":
       {"code": {"$ref": "#/OddCode"}, "participant": {"type": "integer"}}}
      """)
  }
}
