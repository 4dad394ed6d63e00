// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import StatewireClient

/// Reason: an input above `frameBytes` never ended, because the error for it has no id, and it
/// was sent again over each new connection.
@Suite("Frames that the server refuses", .timeLimit(.minutes(15)))
struct FrameLimitTests {
  /// A connection in memory, and the results of its requests.
  private final class Wire {
    let connection = Connection(listener: .init())
    private(set) var results: [Int: Result<JSONValue, any Error>] = [:]

    @discardableResult
    func start(_ method: String, _ params: JSONValue = [:]) -> Int {
      var id = 0
      var early: Result<JSONValue, any Error>?
      id = connection.start(method, params) { [unowned self] in
        if id == 0 { early = $0 } else { results[id] = $0 }
      }
      if let early { results[id] = early }
      return id
    }

    /// The requests that were sent since the last call.
    func sent() throws -> [JSONValue] {
      try connection.takeOutgoing().split(separator: UInt8(ascii: "\n")).map {
        try JSONValue(parsing: Array($0), limits: .ofServer)
      }
    }

    func respond(to id: Int, _ result: JSONValue = [:]) throws {
      try connection.received(
        bytes(["jsonrpc": "2.0", "id": .number(JSONNumber(id)), "result": result]))
    }

    func refuse(_ code: Int, limit: String? = nil) throws {
      var error: JSONObject = ["code": .number(JSONNumber(code)), "message": "no"]
      if let limit { error["data"] = ["limit": .string(limit)] }
      try connection.received(
        bytes(["jsonrpc": "2.0", "id": nil, "error": .object(error)]))
    }

    func limit(bytes: Int, nesting: Int) throws {
      let id = start("initialize")
      _ = try sent()
      try respond(
        to: id,
        [
          "limits": [
            "frameBytes": .number(JSONNumber(bytes)), "nesting": .number(JSONNumber(nesting)),
            "batchLength": 10,
          ]
        ])
    }

    func error(of id: Int) -> RPCError? {
      if case .failure(let error as RPCError)? = results[id] { error } else { nil }
    }
  }

  @Test("a frame above a reported limit is not sent and fails with the error of the server")
  func measured() throws {
    let wire = Wire()
    try wire.limit(bytes: 100, nesting: 4)
    let params: JSONValue = ["text": "é"]
    let first = wire.start("ping", params)
    let length = try #require(try wire.sent().first).bytes.count
    let exact = wire.start(
      "ping", ["text": .string("é" + String(repeating: "a", count: 100 - length))])
    #expect(try wire.sent().map(\.bytes.count) == [100])
    let long = wire.start(
      "ping", ["text": .string("é" + String(repeating: "a", count: 101 - length))])
    #expect(wire.error(of: long)?.code == .limit)
    #expect(wire.error(of: long)?.data == ["limit": "frameBytes"])
    // The message, its params and two arrays. Brackets in strings do not count.
    let deep = wire.start("ping", ["a": [["[[[\"\\"]]])
    #expect(try wire.sent().count == 1)
    let deeper = wire.start("ping", ["a": [[[]]]])
    #expect(wire.error(of: deeper)?.data == ["limit": "nesting"])
    wire.connection.notify("x", ["a": [[[]]]])
    #expect(try wire.sent().isEmpty)
    #expect([first, exact, deep].allSatisfy { wire.results[$0] == nil })
  }

  @Test(
    "without reported limits, an error ends the largest request",
    arguments: ["frameBytes", "nesting"])
  func largest(_ limit: String) throws {
    let wire = Wire()
    let params: [JSONValue] =
      limit == "frameBytes"
      ? [["a": "b"], ["a": "bbbbb"], ["a": "bbbbb"], [:]]
      : [["a": ["bbbbbb"]], ["a": [[[]]]], ["a": [[[]]]], ["a": "bbbbbbbbbbbbbbb"]]
    let ids = params.map { wire.start("store/send", $0) }
    try wire.refuse(-32015, limit: limit)
    #expect(wire.error(of: ids[1])?.limit == limit)
    #expect(wire.results.count == 1)
    try wire.refuse(-32015, limit: limit)
    #expect(wire.error(of: ids[2])?.limit == limit)
    #expect(wire.results.count == 2)
    try wire.respond(to: ids[0])
    try wire.respond(to: ids[3])
    #expect(wire.results.count == 4)
  }

  @Test(
    "an unparseable frame ends the requests that are open before a ping",
    arguments: [-32700, -32600])
  func unread(_ code: Int) throws {
    let wire = Wire()
    try wire.refuse(code)
    #expect(try wire.sent().isEmpty)
    let settling = wire.start("store/send", ["settle": true])
    let lost = wire.start("store/send")
    let completed = wire.start("store/state", ["store": "a"])
    _ = try wire.sent()
    try wire.refuse(code)
    try wire.refuse(code)
    let pings = try wire.sent()
    #expect(pings.map { $0["method"] } == ["ping"])
    let ping = try #require(pings.first?["id"]?.int)
    let later = wire.start("store/send")
    try wire.respond(to: completed)
    try wire.respond(to: ping)
    #expect(wire.error(of: lost)?.code.rawValue == code)
    #expect(wire.results[settling] == nil && wire.results[later] == nil)
    try wire.respond(to: later)
    // The error can belong only to this request now.
    _ = try wire.sent()
    try wire.refuse(code)
    try wire.respond(to: try #require(try wire.sent().first?["id"]?.int))
    #expect(wire.error(of: settling)?.code.rawValue == code)
  }

  @Test("an error about the connection ends no request, but is the reason when all of them end")
  func connection() throws {
    let wire = Wire()
    let id = wire.start("ping")
    try wire.refuse(-32015, limit: "idleTime")
    #expect(wire.results.isEmpty)
    wire.connection.ended(nil)
    guard case .failure(let error as StatewireError) = wire.results[id] else {
      Issue.record("\(wire.results)")
      return
    }
    #expect((error.cause as? RPCError)?.limit == "idleTime")
  }

  @Test(
    "an input that is not sent uses no sequence number; a refused one is not sent again")
  func inputs() throws {
    let wire = Wire()
    let inputs = Inputs(maximumCount: 10, backoff: Backoff())
    // Requests without a response retain it, and it retains its connection.
    defer { inputs.disconnected() }
    try wire.limit(bytes: 150, nesting: 10)
    inputs.connected(wire.connection, accepted: 0) { _ in }
    var failures: [RPCError] = []
    func add(_ text: String, settle: Bool = false) throws {
      _ = try inputs.add(
        store: "a", text: bytes(["type": .string(text)]), wantsSettled: settle
      ) { if case .failure(let error as RPCError) = $0 { failures.append(error) } }
    }
    try add("a")
    try add(String(repeating: "b", count: 150))
    #expect(failures.map(\.limit) == ["frameBytes"])
    try add("c", settle: true)
    #expect(try wire.sent().map { $0["params"]?["sequence"] } == [1, 2])
    // A server that does not keep its reported limits.
    try wire.refuse(-32015, limit: "frameBytes")
    #expect(failures.count == 2)
    inputs.disconnected()
    let next = Wire()
    inputs.connected(next.connection, accepted: 0) { _ in }
    #expect(try next.sent().map { $0["params"]?["sequence"] } == [1])
  }

  /// The server waits for the sequence number of an input that it has refused temporarily. If the
  /// frame of that input is refused when it is sent again, another input must take its number.
  @Test("the expected sequence number is sent even if its input has failed")
  func place() throws {
    let wire = Wire()
    let inputs = Inputs(maximumCount: 10, backoff: Backoff())
    // Requests without a response retain it, and it retains its connection.
    defer { inputs.disconnected() }
    inputs.connected(wire.connection, accepted: 0) { _ in }
    var failures = 0
    func add(_ text: String) throws {
      _ = try inputs.add(
        store: "a", text: bytes(["type": .string(text)]), wantsSettled: false
      ) {
        if case .failure = $0 { failures += 1 }
      }
    }
    func refuse(_ message: JSONValue, _ code: Int, _ data: JSONValue) throws {
      try wire.connection.received(
        bytes([
          "jsonrpc": "2.0", "id": message["id"] ?? nil,
          "error": ["code": .number(JSONNumber(code)), "message": "no", "data": data],
        ]))
    }
    try add("long long long")
    try add("b")
    let first = try wire.sent()
    try refuse(first[0], -32015, ["limit": "inputsPerSecond"])
    try refuse(first[1], -32019, ["sequence": 1])
    inputs.sendRefused()
    let second = try wire.sent()
    #expect(second.map { $0["params"]?["sequence"] } == [1, 2])
    try wire.refuse(-32015, limit: "frameBytes")
    #expect(failures == 1)
    try refuse(second[1], -32019, ["sequence": 1])
    inputs.sendRefused()
    let third = try wire.sent()
    #expect(third.map { $0["params"]?["sequence"] } == [1, 2])
    #expect(third.first?["params"]?["input"] == ["type": ""])
    try refuse(third[0], -32602, ["path": "/input/type"])
    try wire.respond(to: try #require(third[1]["id"]?.int), ["revision": 1, "changed": true])
    #expect(failures == 1)
    #expect(inputs.hasCapacity)
  }

  @Test("a large input fails; the inputs around it are applied")
  func endToEnd() async throws {
    let server = try Listening.server(["--maximum-frame-bytes", "5000"])
    try await withClient(server.address(), .soon) { client in
      let list = try await client.open(
        Kind<JSONValue, JSONValue>("todo"), name: "list", config: memory)
      try await list.send(["type": "stateRequested"])
      var deep: JSONValue = []
      for _ in 0..<200 { deep = [deep] }
      let large = JSONValue.string(String(repeating: "é", count: 5000))
      var pending: [PendingInput] = []
      for input: JSONValue in [
        ["type": "todoAdded", "title": "first"], ["type": "todoAdded", "title": large],
        ["type": "todoAdded", "title": "second"],
        ["type": "todoAdded", "title": "x", "more": deep],
        ["type": "todoAdded", "title": "third"],
      ] { pending.append(try await list.post(input) { $0 }) }
      var limits: [String?] = []
      for input in pending {
        do {
          _ = try await input.result
          limits.append(nil)
        } catch let error as RPCError {
          limits.append(error.limit)
        }
      }
      #expect(limits == [nil, "frameBytes", nil, "nesting", nil])
      let titles = try await list.state["todos"]?.array?.suffix(3).compactMap {
        $0["title"]?.string
      }
      #expect(titles == ["first", "second", "third"])
      #expect(
        await refused { _ = try await client.request("ping", ["a": large]) }?.limit == "frameBytes")
      #expect(
        await refused {
          _ = try await client.open(
            Kind<JSONValue, JSONValue>("todo"), name: "b", config: ["list": large])
        }?.limit == "frameBytes")
      #expect(try await list.verify())
      #expect(await client.reconnects == 0)
    }
  }
}

private func bytes(_ value: JSONValue) -> [UInt8] { value.bytes }
