// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import TypesServer

/// Values of all types between a client and a server.
@Suite("The server of types", .timeLimit(.minutes(15)))
struct TypesServerTests {
  @Test("a value in another form is refused with its path")
  func refusals() throws {
    let wrong: [(member: String, value: JSONValue, path: String)] = [
      ("date", 790_599_419, ""), ("date", "2026-11-26T10:50:19", ""), ("date", "today", ""),
      ("decimal", "1,5", ""), ("decimal", true, ""), ("duration", "1s", ""), ("uuid", "E621", ""),
      ("url", "", ""), ("data", "*", ""), ("timeZone", "Nowhere", ""), ("int8", 128, ""),
      ("int128", "1.5", ""), ("range", ["lowerBound": 3, "upperBound": 1], ""),
      ("range", ["lowerBound": 3], "/upperBound"),
      ("closedRange", ["lowerBound": 0, "upperBound": 1], "/lowerBound"),
      ("byColumn", ["never": 1], "/never"), ("byColumn", ["done": "x"], "/done"),
      ("byUUID", ["x": 1], "/x"), ("byPoint", [["key": ["x": 1], "value": "a"]], "/0/key/y"),
      ("set", ["a", 1], "/1"), ("column", "never", ""), ("level", 2, ""),
      ("unlabelled", ["type": "box", "_0": 1], "/_1"),
      ("vector", [1], ""),
    ]
    let responses = try responses(to: wrong.map { [$0.member: $0.value] })
    for ((member, _, path), response) in zip(wrong, responses) {
      #expect(response["error"]?["code"] == -32602, "\(member): \(response)")
      #expect(
        response["error"]?["data"]?["path"]?.string == "/input/values/\(member)\(path)",
        "\(response)")
    }
  }

  @Test("a value in another documented form is taken")
  func otherForms() throws {
    let same: [JSONObject] = [
      ["date": "2026-11-26T12:50:19.250+02:00"], ["uuid": "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"],
      ["range": [1, 3]], ["data": [0, 1, 254, 255]], ["byColumn": ["to do", 1]],
      ["int128": "-170141183460469231731687303715884105728"],
      ["set": ["b", "a", "b"]], ["url": ["relative": "file:///tmp/a%20b"]], ["column": "to do"],
    ]
    for response in try responses(to: same) {
      #expect(response["result"]?["changed"] == true, "\(response)")
    }
    let last = try #require(try updates(of: same).last)
    #expect(last["otherEchoes"] == 0 && last["sameEchoes"] == .number(JSONNumber(same.count)))
  }

  @Test("values of all types are journaled, and restored after the server was killed")
  func journal() async throws {
    let folder = try TestFolder()
    func start() throws -> ExampleServer {
      try ExampleServer("TypesServer", "--data-dir", folder.path)
    }
    let values = try JSON.value(AllTypes())
    let server = try start()
    let client = try await server.client()
    let session = try #require(
      try await client.call("session/open", #"{"frontend":"a"}"#)["session"]?.string)
    try await client.subscribe(to: "types")
    // The state is written as a whole, and then changed: a restored one counts the input.
    let input: JSONValue = ["type": "echoed", "values": values]
    let taken = try await client.input(input.description, to: "types")
    #expect(taken["changed"] == true, "\(taken)")
    let state = client.state
    #expect(state["sameEchoes"] == 1 && state["values"] == values)
    server.kill()
    let later = try start()
    let again = try await later.client()
    let attached = try await again.call(
      "session/attach",
      #"{"session":"\#(session)","frontend":"a","revisions":{"types":null}}"#)
    let snapshot = attached["stores"]?["types"]?["snapshot"]
    #expect(snapshot?["state"] == state, "\(attached)")
    #expect(snapshot?["revision"] == 1)
  }

  /// Sends the values with changed members, and returns the responses.
  private func responses(to changes: [JSONObject]) throws -> [JSONValue] {
    try messages(changes).filter { $0["id"] != nil }
  }

  /// Sends the values with changed members, and returns the states after each.
  private func updates(of changes: [JSONObject]) throws -> [JSONValue] {
    try messages(
      changes,
      before: [
        #"{"jsonrpc":"2.0","method":"store/subscribe","id":"s","params":{"store":"types","format":"state"}}"#
      ]
    ).compactMap { $0["params"]?["state"] }
  }

  private func messages(_ changes: [JSONObject], before: [String] = []) throws -> [JSONValue] {
    guard case .object(let values) = try JSON.value(AllTypes()) else { return [] }
    let requests = changes.enumerated().map { number, changed -> String in
      var values = values
      for (member, value) in changed { values[member] = value }
      let request: JSONValue = [
        "jsonrpc": "2.0", "id": .number(JSONNumber(number)), "method": "store/send",
        "params": ["store": "types", "input": ["type": "echoed", "values": .object(values)]],
      ]
      return "\(request)"
    }
    let result = try ProgramResult(
      of: TestedPackage.program("TypesServer"), ["serve"],
      input: (before + requests).joined(separator: "\n") + "\n")
    return try result.lines.map { try JSONValue(parsing: $0) }
  }
}
