// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StateMachines
import TestSupport
import Testing

@testable import ServerCore

@Suite("Limits of a connection", .timeLimit(.minutes(15)))
struct LimitTests {

  static func limit(_ id: String, _ name: String) -> String {
    failure(id, -32015, data: "{\"limit\":\"\(name)\"}")
  }

  @Test("inputs beyond the rate change nothing, until time has passed")
  func inputs() async throws {
    let (world, time) = (World(), TestTime())
    var limits = ServerLimits()
    limits.inputsPerSecond = 2
    let client = TestClient(world, limits: limits, now: time.now)
    let other = TestClient(world, limits: limits, now: time.now)
    client.send(set("1", 1), set("2", 2), set("3", 3), set("4", 4), request("5", "ping"))
    try await client.expect(
      sent("1", revision: 1), sent("2", revision: 2), Self.limit("3", "inputsPerSecond"),
      Self.limit("4", "inputsPerSecond"), response("5"))
    other.send(set("1", 1), set("2", 2))
    try await other.expect(sent("1", revision: 1), sent("2", revision: 2))

    time.pass(.milliseconds(499))
    client.send(set("6", 6))
    try await client.expect(Self.limit("6", "inputsPerSecond"))
    time.pass(.milliseconds(1))
    client.send(set("7", 7), set("8", 8))
    try await client.expect(sent("7", revision: 3), Self.limit("8", "inputsPerSecond"))
    // At most one second of the rate is saved.
    time.pass(.seconds(3600))
    client.send(set("9", 9), set("10", 10), set("11", 11))
    try await client.expect(
      sent("9", revision: 4), sent("10", revision: 5), Self.limit("11", "inputsPerSecond"))
  }

  @Test("opening a store counts as an input")
  func openings() async throws {
    let (world, time) = (World(), TestTime())
    var limits = ServerLimits()
    limits.inputsPerSecond = 2
    let client = TestClient(world, limits: limits, now: time.now)
    let other = TestClient(world, limits: limits, now: time.now)
    func open(_ id: String) -> String {
      request(id, "store/open", "{\"store\":\"\(id)\",\"kind\":\"probe\"}")
    }
    client.send(open("1"), set("2", 1), open("3"), set("4", 2))
    try await client.expect(
      response("1", #"{"revision":0}"#), sent("2", revision: 1), Self.limit("3", "inputsPerSecond"),
      Self.limit("4", "inputsPerSecond"))
    other.send(open("1"))
    try await other.expect(response("1", #"{"revision":0}"#))
    time.pass(.milliseconds(500))
    client.send(open("3"))
    try await client.expect(response("3", #"{"revision":0}"#))
  }

  @Test("the token bucket returns the time to wait for tokens used beyond the rate")
  func owing() {
    let start = ContinuousClock.now
    let allowance = TokenBucket(perSecond: 1000, at: start)
    #expect(allowance.use(1000, at: start) == nil)
    #expect(allowance.use(500, at: start) == .milliseconds(500))
    #expect(allowance.use(500, at: start + .milliseconds(250)) == .milliseconds(750))
    #expect(allowance.use(1, at: start + .seconds(1)) == .milliseconds(1))
    // A clock that goes back removes no tokens.
    #expect(allowance.use(1, at: start) == .milliseconds(2))
  }

  @Test(
    "a message that is nested too deeply gets an error that names the limit",
    arguments: Framing.allCases)
  func nesting(_ framing: Framing) async throws {
    var limits = ServerLimits()
    limits.depth = 4
    let client = TestClient(World(), framing, limits: limits)
    client.send(
      "{\"params\":{\"a\":[[[1]]]}}", "[[[[[", request("1", "ping", "{\"a\":[1,{}]}"), "[[[[")
    try await client.expect(
      Self.limit("null", "nesting"), Self.limit("null", "nesting"), response("1"),
      failure("null", -32700))
  }

  @Test(
    "a refused client receives the reason in its framing, and is closed",
    arguments: [Refusal.timeToFirstRequest, .frameTime, .idleTime])
  func refusals(_ refusal: Refusal) async throws {
    let world = World()
    let other = TestClient(world)
    for framing in Framing.allCases {
      let client = TestClient(world, framing)
      // When the work is cancelled, the orders under its name end.
      client.send(request("1", "ping"), work("2", "\(framing)"))
      try await client.expect(response("1"))
      #expect(!client.isIdle)
      client.tell(.refused(refusal))
      try await client.expect(Self.limit("null", "\(refusal)"), failure("2", -32800))
      #expect(client.isClosed)
      // Later messages are ignored.
      client.send(set("3", 1))
      client.tell(.refused(refusal))
      client.expectNothing()
    }
    other.send(set("1", 1))
    try await other.expect(sent("1", revision: 1))
  }

  @Test("a store that is being prepared for a client when it is refused is not opened")
  func refusedWhilePreparing() async throws {
    let isRefused = DispatchSemaphore(value: 0)
    let kind = StoreKind(
      "prepared", configuration: Int.self, sharingWithin: { _ in 0 },
      preparing: { _ in
        {
          isRefused.wait()
          return true
        }
      }, { _, _ in Loose() })
    let world = World(kinds: [kind])
    let client = TestClient(world)
    client.send(request("1", "session/open"))
    let opened = try JSONValue(parsing: Array(try await client.messages(1)[0].utf8))
    let handle = try #require(opened["result"]?["session"]?.string)
    client.send(request("2", "store/open", #"{"store":"s","kind":"prepared","config":1}"#))
    client.expectNothing()
    client.tell(.refused(.idleTime))
    try await client.expect(Self.limit("null", "idleTime"), failure("2", -32800))
    #expect(client.isClosed)
    // The end of the preparation.
    isRefused.signal()
    try await world.loop.turn()
    let other = TestClient(world)
    other.send(request("1", "session/attach", "{\"session\":\"\(handle)\",\"revisions\":{}}"))
    #expect(try await other.messages(1)[0].contains(#""stores":{}"#))
  }

  // Nothing of the batch was sent.
  @Test("a batch in which a client is refused gets the responses to what has begun")
  func refusedWithinBatch() async throws {
    let kind = StoreKind(
      "prepared", configuration: Int.self, sharingWithin: { _ in 0 },
      preparing: { _ in { true } }, { _, _ in Loose() })
    let client = TestClient(World(kinds: [kind]))
    let open = request("2", "store/open", #"{"store":"s","kind":"prepared","config":1}"#)
    client.send("[\(request("1", "ping")),\(open),\(request("3", "ping"))]")
    client.expectNothing()
    client.tell(.refused(.idleTime))
    let messages = try await client.messages(2)
    #expect(messages.count == 2 && messages[0].contains("\"id\":null"))
    #expect(messages.last?.hasPrefix(#"[{"jsonrpc":"2.0","id":1,"result":{}}"#) == true)
    #expect(messages.last?.contains(#""id":2,"error":{"code":-32800"#) == true)
    #expect(messages.last?.contains("\"id\":3") == false)
    #expect(client.isClosed)
  }

  @Test("a title that is too long gets an error with its path and limit, and changes nothing")
  func titles() async throws {
    let client = TestClient()
    func add(_ id: String, _ count: Int, to store: String) -> String {
      let title = String(repeating: "x", count: count)
      return send(id, "{\"title\":\"\(title)\",\"type\":\"todoAdded\"}", to: store)
    }
    let refusal = #"{"path":"/input/title","limit":"titleBytes"}"#
    // Over the limit of the wire, over the limit of this store, and within both.
    client.send(add("1", 4097, to: "todo"), add("2", 11, to: "brief"), add("3", 10, to: "brief"))
    try await client.expect(
      ServerCoreTests.refusal("1", path: "/input/title"), failure("2", -32015, data: refusal),
      sent("3", revision: 0, changed: false))
  }

  @Test("a message counts when it is complete, also an invalid one")
  func counting() {
    let client = TestClient()
    client.send(bytes: Array("{\"jsonrpc\"".utf8))
    #expect(client.messageCount == 0)
    client.send(bytes: Array(":\n\n{}\n".utf8))
    #expect(client.messageCount == 2)
    #expect(client.isIdle)
  }
}
