// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Sessions
import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import ServerCore

@Suite("rpc.discover", .timeLimit(.minutes(15)))
struct DiscoverTests {
  private func response(_ client: TestClient, _ message: String) async throws -> JSONValue {
    client.send(message)
    return try JSONValue(parsing: try await client.messages(1)[0])
  }

  private func document(_ client: TestClient = TestClient()) async throws -> JSONValue {
    try #require(try await response(client, request("1", "rpc.discover"))["result"])
  }

  @Test("rpc.discover returns the same document each time, the description of the server's kinds")
  func sameEachTime() async throws {
    let client = TestClient()
    let first = try await document(client)
    #expect(try await document(client) == first)
    #expect(ServerDescription(kinds: client.world.shard.kinds).openRPC == first)
  }

  @Test("rpc.discover describes a store author's own kinds, whatever their types contain")
  func ownKinds() async throws {
    let document = try await document()
    let loose = try #require(document["x-stores"]?["loose"])
    #expect(loose["input"] == ["$ref": "#/components/schemas/LooseInput"])
    #expect(loose["viewState"] == ["$ref": "#/components/schemas/LooseState"])
    #expect(loose["event"] == nil)
    let schemas = try #require(document["components"]?["schemas"])
    #expect(
      try schemas["LooseState"]
        == JSONValue(
          parsing: """
            {"title": "LooseState", "type": "object",
             "required": ["number", "text", "nested", "kept"],
             "properties": {"number": {"type": ["number", "null"]}, "text": {"type": "string"},
              "nested": {"type": "object", "additionalProperties":
               {"type": "array", "items": {"type": "integer"}}},
              "kept": {}}}
            """))
    #expect(schemas["LooseInput"]?["oneOf"]?.array?.count == 2)
  }

  @Test("the secrets of a kind are the members that it conceals, and those whose schema says so")
  func secrets() throws {
    let kinds = [StoreKind("vault") { Loose() }.concealing("pin"), StoreKind("open") { Loose() }]
    let stores = try #require(ServerDescription(kinds: kinds).openRPC["x-stores"])
    #expect(stores["vault"]?["secrets"] == ["pin"])
    #expect(stores["open"]?["secrets"] == [])
    let password: JSONValue = ["type": "string", "format": "password"]
    let word: JSONValue = ["$ref": "#/components/schemas/Word"]
    let members: JSONValue = [
      "word": word, "optional": ["anyOf": [password, ["type": "null"]]], "all": ["allOf": [word]],
      "far": ["$ref": "#/components/schemas/Far"], "one": ["oneOf": [["type": "null"], word]],
      "list": ["type": "array", "items": ["anyOf": [word, ["type": "null"]]]],
      "pair": ["prefixItems": [["type": "string"], password]],
      "map": ["additionalProperties": password], "count": ["type": "number"],
      "own": ["$ref": "#/components/schemas/State"], "loop": ["$ref": "#/components/schemas/Loop"],
      "closed": ["type": "object", "additionalProperties": false],
    ]
    let document: JSONValue = [
      "components": [
        "schemas": [
          "State": ["properties": members], "Word": password, "Far": ["allOf": [word]],
          "Loop": ["anyOf": [["$ref": "#/components/schemas/Loop"], ["type": "null"]]],
        ]
      ]
    ]
    let key: JSONValue = ["oneOf": [["properties": ["key": ["writeOnly": true], "note": [:]]]]]
    let own = SchemaMembers(of: key, in: document)
    #expect(own.secrets == ["key"] && own.names == ["key", "note"])
    let state = SchemaMembers(of: ["$ref": "#/components/schemas/State"], in: document)
    #expect(
      state.secrets == ["all", "far", "list", "map", "one", "optional", "pair", "word"])
  }

  // Their schemas had references that lead nowhere.
  @Test(
    "a kind may have the name of a keyword of schemas",
    arguments: ["const", "default", "enum", "examples", "properties", "$defs", "$ref"])
  func keywordNames(name: String) throws {
    let document = ServerDescription(kinds: [StoreKind(name) { Loose() }]).openRPC
    #expect(
      document["x-stores"]?[name]?["input"] == ["$ref": "#/components/schemas/LooseInput"])
  }

  // Each definition was read by a call within that of the one before, and again for each member.
  @Test("a long chain of definitions is read, each of them once")
  func chains() {
    func chain(_ count: Int, _ members: (Int) -> JSONObject) -> SchemaMembers {
      let schemas = (0..<count).map { number -> (String, JSONValue) in
        var schema = members(number)
        schema["$ref"] = .string("#/schemas/S\(number + 1)")
        return ("S\(number)", .object(schema))
      }
      return SchemaMembers(
        of: ["$ref": "#/schemas/S0"], in: ["schemas": .object(JSONObject(schemas))])
    }
    let long = chain(50_000) { $0 == 49_999 ? ["properties": ["last": ["writeOnly": true]]] : [:] }
    #expect(long.names == ["last"] && long.secrets == ["last"])
    let wide = chain(2_000) { number in
      ["properties": ["m\(number)": ["$ref": .string("#/schemas/S\(number)")]]]
    }
    #expect(wide.names.count == 2_000 && wide.secrets.isEmpty)
  }

  @Test("each described method exists, and each reference resolves")
  func isComplete() async throws {
    let client = TestClient(World(underTest: .init()))
    let document = try await document(client)
    let methods = try #require(document["methods"]?.array)
    for method in methods where method["x-sender"] == "client" {
      let name = try #require(method["name"]?.string)
      let response = try await response(client, request("\"x\"", name, "[]"))
      #expect(response["error"]?["code"] == -32602, "\(name): \(response)")
    }
    let names = methods.compactMap { $0["name"]?.string }
    #expect(Set(names).count == names.count)
    var references: Set<String> = []
    collect(document, &references)
    #expect(references.count > 50)
    for reference in references {
      var found: JSONValue? = document
      for part in reference.split(separator: "/").dropFirst() { found = found?[String(part)] }
      #expect(found != nil, "\(reference)")
    }
  }

  private func collect(_ value: JSONValue, _ references: inout Set<String>) {
    switch value {
    case .array(let elements): for element in elements { collect(element, &references) }
    case .object(let members):
      for (key, value) in members {
        if key == "$ref", let target = value.string { references.insert(target) }
        collect(value, &references)
      }
    default: break
    }
  }

  @Test("rpc.discover counts towards the input rate")
  func isCounted() async throws {
    var limits = ServerLimits()
    limits.inputsPerSecond = 1
    // The clock does not advance.
    let now = ContinuousClock.now
    let client = TestClient(limits: limits, now: { now })
    _ = try await document(client)
    #expect(
      try await response(client, request("2", "rpc.discover"))["error"]?["data"]?["limit"]
        == "inputsPerSecond")
  }

  @Test("the names in other modules are the described names")
  func names() {
    #expect(SessionTraced.Stage.names == Operation.Stage.allCases.map(\.rawValue))
    for hook in SessionTraced.Hook.names { #expect(TraceRecord.Moment(rawValue: hook) != nil) }
    for limit in SessionError.Limit.allCases {
      #expect(LimitName(rawValue: limit.rawValue) != nil)
    }
  }
}
