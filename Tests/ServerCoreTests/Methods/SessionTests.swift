// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import Testing

@testable import ServerCore

/// Several clients of one server.
@Suite("session/*", .timeLimit(.minutes(15)))
struct SessionMethodTests {
  /// Opens a session, and returns its handle.
  private func open(_ client: TestClient, as name: String? = nil) async throws -> String {
    let params = name.map { "{\"frontend\":\"\($0)\"}" }
    client.send(request("\"open\"", "session/open", params))
    let response = try JSONValue(parsing: Array(try await client.messages(1)[0].utf8))
    guard case .object(let members) = response, case .object(let result)? = members["result"],
      case .string(let handle)? = result["session"]
    else {
      Issue.record("no handle: \(response)")
      return ""
    }
    return handle
  }

  private func attach(
    _ id: String, _ handle: String, _ revisions: String = "{}", as name: String? = nil,
    role: String? = nil
  ) -> String {
    var params = "\"session\":\"\(handle)\",\"revisions\":\(revisions)"
    if let name { params += ",\"frontend\":\"\(name)\"" }
    if let role { params += ",\"role\":\"\(role)\"" }
    return request(id, "session/attach", "{\(params)}")
  }

  private func presence(_ name: String?, _ change: String, _ role: String, _ count: Int) -> String {
    let name = name.map { "\"\($0)\"" } ?? "null"
    return "{\"method\":\"session/presence\",\"params\":{\"frontend\":\(name),"
      + "\"change\":\"\(change)\",\"role\":\"\(role)\",\"attached\":\(count)}}"
  }

  @Test("after a lost connection, exactly the missed updates are replayed")
  func resume() async throws {
    for framing in Framing.allCases {
      let world = World()
      let first = TestClient(world, framing)
      let handle = try await open(first)
      first.send(subscribe("1"), work("2", "a"), set("3", 1))
      _ = try await first.messages(3)
      first.tell(.disconnected)
      // The work continues while no client is attached.
      world.orders.tell("a", .set(2), .set(3), .end)
      try await world.loop.turns(3)

      let second = TestClient(world, framing)
      second.send(attach("1", handle, #"{"probe":1}"#))
      try await second.expect(
        response("1", #"{"stores":{"probe":{"replayed":2}},"sequence":null}"#),
        changed(1, 2, number: 2, applied: "null"), changed(2, 3, number: 3, applied: "null"))
      second.send(set("2", 4), set("3", 4))
      try await second.expect(
        changed(3, 4, number: 4, applied: "2"), sent("2", revision: 4),
        sent("3", revision: 4, changed: false))
    }
  }

  @Test("if missed updates are not available, the response has the state and the reason")
  func snapshot() async throws {
    let world = World()
    let client = TestClient(world)
    let handle = try await open(client)
    client.send(set("1", 1))
    _ = try await client.messages(1)
    client.send(attach("2", handle, #"{"probe":null,"todo":5}"#))
    try await client.expect(
      response(
        "2",
        #"{"stores":{"probe":{"snapshot":{"revision":1,"state":{"number":1,"text":""}},"reason":"none"},"#
          + #""todo":{"snapshot":{"revision":0,"state":{"type":"loading"}},"reason":"ahead"}},"#
          + #""sequence":null}"#))
  }

  @Test("an invalid attach request is refused, and changes nothing")
  func refused() async throws {
    let world = World()
    let client = TestClient(world)
    let handle = try await open(client, as: "page")
    client.send(subscribe("0"))
    _ = try await client.messages(1)
    let never = String(repeating: "0", count: 32)
    client.send(
      attach("1", never), attach("2", handle, #"{"nothing":1}"#),
      attach("3", handle, #"{"probe":-1}"#), attach("4", handle, #"{"probe":"1"}"#),
      attach("5", handle, role: "king"), request("6", "session/attach"),
      attach("7", handle, as: String(repeating: "x", count: 257)), set("8", 1))
    try await client.expect(
      failure("1", -32012), failure("2", -32010), refusal("3", path: "/revisions/probe"),
      refusal("4", path: "/revisions/probe"), refusal("5", path: "/role"),
      refusal("6", path: "/session"),
      failure("7", -32015, data: #"{"limit":"frontendNameBytes"}"#),
      changed(0, 1, number: 1, applied: "8"), sent("8", revision: 1))
  }

  @Test("an observer receives updates, and becomes a driver when it attaches again")
  func observer() async throws {
    let world = World()
    let (driver, observer) = (TestClient(world), TestClient(world))
    let handle = try await open(driver, as: "page")
    observer.send(attach("1", handle, #"{"probe":null}"#, as: "tv", role: "observer"))
    try await observer.expect(failure("1", -32014))
    driver.send(request("0", "store/open", #"{"store":"probe","kind":"probe"}"#))
    _ = try await driver.messages(1)
    observer.send(attach("1", handle, #"{"probe":null}"#, as: "tv", role: "observer"))
    _ = try await observer.messages(1)
    try await driver.expect(presence("tv", "attached", "observer", 2))
    observer.send(
      set("2", 1), request("3", "store/open", #"{"store":"x","kind":"probe"}"#),
      request("4", "store/close", #"{"store":"probe"}"#), request("5", "session/close"),
      subscribe("6", "todo"), request("7", "store/state", #"{"store":"todo"}"#),
      subscribe("8", "nothing"))
    try await observer.expect(
      failure("2", -32014), failure("3", -32014), failure("4", -32014), failure("5", -32014),
      failure("6", -32014), failure("7", -32014), failure("8", -32010))
    driver.send(set("1", 3))
    try await driver.expect(sent("1", revision: 1))
    try await observer.expect(changed(0, 1, number: 3, applied: "null"))
    observer.send(attach("6", handle, #"{"probe":1}"#, as: "tv"), set("7", 4))
    try await observer.expect(
      response("6", #"{"stores":{"probe":{"replayed":0}},"sequence":0}"#),
      changed(1, 2, number: 4, applied: "7"), sent("7", revision: 2))
    try await driver.expect(presence("tv", "role", "driver", 2))
  }

  @Test("the older connection of a name is notified, closed, and no longer read")
  func evicted() async throws {
    let world = World()
    let (old, new) = (TestClient(world), TestClient(world))
    let handle = try await open(old, as: "page")
    old.send(subscribe("1"))
    _ = try await old.messages(1)
    new.send(attach("1", handle, #"{"probe":0}"#, as: "page"))
    try await old.expect(
      "{\"method\":\"session/closed\",\"params\":{\"session\":\"\(handle)\",\"reason\":\"evicted\"}}"
    )
    #expect(old.isClosed)
    old.send(set("2", 9))
    try await new.expect(response("1", #"{"stores":{"probe":{"replayed":0}},"sequence":0}"#))
    old.tell(.disconnected)
    new.send(set("2", 1))
    try await new.expect(changed(0, 1, number: 1, applied: "2"), sent("2", revision: 1))
  }

  @Test("an input that is sent again is applied once, and settles with the first")
  func sequence() async throws {
    let world = World()
    let first = TestClient(world)
    func numbered(_ id: String, _ sequence: String, _ input: String, settle: Bool) -> String {
      request(
        id, "store/send",
        "{\"store\":\"probe\",\"input\":\(input),\"settle\":\(settle),\"sequence\":\(sequence)}")
    }
    let set1 = #"{"type":"set","number":1}"#
    let workA = #"{"type":"work","name":"a"}"#
    let handle = try await open(first)
    for (sequence, path) in [("1", "/sequence"), ("0", "/sequence"), ("1.5", "/sequence")] {
      first.send(numbered("1", sequence, set1, settle: false))
      try await first.expect(refusal("1", path: path))
    }
    first.send(attach("2", handle, as: "page"))
    _ = try await first.messages(1)
    // Only accepted inputs count.
    first.send(
      numbered("3", "1", #"{"type":"unknown"}"#, settle: false),
      numbered("4", "1", set1, settle: false), numbered("5", "2", workA, settle: true))
    try await first.expect(refusal("3", path: "/input/type"), sent("4", revision: 1))

    let second = TestClient(world)
    second.send(
      attach("1", handle, as: "page"), numbered("2", "1", set1, settle: true),
      numbered("3", "2", workA, settle: true), numbered("4", "2", workA, settle: false))
    try await second.expect(
      response("1", #"{"stores":{},"sequence":2}"#), sent("2", revision: 1, changed: false),
      sent("4", revision: 1, changed: false))
    world.orders.tell("a", .set(5), .end)
    try await second.expect(sent("3", revision: 2, changed: false))
  }

  @Test("after detach the session continues, and after close it has ended for all clients")
  func leaving() async throws {
    let world = World()
    let (one, two) = (TestClient(world), TestClient(world))
    one.send(request("0", "session/detach"))
    try await one.expect(failure("0", -32012))
    let handle = try await open(one)
    #expect(try await open(one) == handle)
    one.send(set("1", 1), request("2", "session/detach"), set("3", 7), set("4", 7))
    try await one.expect(
      sent("1", revision: 1), response("2"), sent("3", revision: 1),
      sent("4", revision: 1, changed: false))
    two.send(attach("1", handle, #"{"probe":1}"#))
    one.send(attach("5", handle, #"{"probe":0}"#))
    try await two.expect(
      response("1", #"{"stores":{"probe":{"replayed":0}},"sequence":null}"#),
      presence(nil, "attached", "driver", 2))
    try await one.expect(
      response("5", #"{"stores":{"probe":{"replayed":1}},"sequence":null}"#),
      changed(0, 1, number: 1, applied: "null"))
    two.send(request("2", "session/close"), set("3", 1))
    try await two.expect(response("2"), sent("3", revision: 1))
    one.send(set("6", 1), attach("7", handle), subscribe("8"), request("9", "session/open"))
    let messages = try await one.messages(5)
    try #expect(
      messages.prefix(4).map { try Message($0) } == [
        Message(
          expected:
            "{\"method\":\"session/closed\",\"params\":{\"session\":\"\(handle)\",\"reason\":\"closed\"}}"
        ),
        Message(expected: failure("6", -32013)), Message(expected: failure("7", -32013)),
        Message(expected: failure("8", -32013)),
      ])
    one.send(set("10", 1))
    try await one.expect(sent("10", revision: 1))
  }

  @Test("after the end of a session, all its methods are refused, for both roles")
  func ended() async throws {
    for role in ["driver", "observer"] {
      let world = World()
      let (one, two) = (TestClient(world), TestClient(world))
      let handle = try await open(one)
      two.send(attach("1", handle, role: role))
      _ = try await two.messages(1)
      one.send(request("1", "session/close"))
      _ = try await two.messages(1)
      let messages = [
        set("1", 1), subscribe("1"), request("1", "store/unsubscribe", #"{"store":"probe"}"#),
        request("1", "store/state", #"{"store":"probe"}"#),
        request("1", "store/open", #"{"store":"x","kind":"probe"}"#),
        request("1", "store/close", #"{"store":"probe"}"#), request("1", "session/info"),
        request("1", "session/trace", #"{"on":true}"#), request("1", "session/detach"),
        request("1", "session/close"),
        request("1", "frontend/lifecycle", #"{"phase":"inactive"}"#),
      ]
      for message in messages {
        two.send(message)
        try await two.expect(all: [failure("1", -32013)], message)
      }
      two.send(request("2", "ping"), request("3", "initialize", "{}"))
      _ = try await two.messages(2)
      // The name is refused in a new session; the address sanitizer reports an error if that
      // session is not released.
      let longName = String(repeating: "x", count: 257)
      two.send(request("2", "session/open", #"{"frontend":"\#(longName)"}"#))
      try await two.expect(failure("2", -32015, data: #"{"limit":"frontendNameBytes"}"#))
      _ = try await open(two)
      two.send(set("4", 1))
      try await two.expect(sent("4", revision: 1))
    }
  }

  @Test("session/info lists the stores of the session and the attached clients")
  func info() async throws {
    let world = World()
    let (one, two) = (TestClient(world), TestClient(world))
    let handle = try await open(one, as: "page")
    one.send(
      set("1", 1), request("2", "store/close", #"{"store":"probe"}"#), subscribe("3", "todo"))
    two.send(
      attach("1", handle, role: "observer"),
      request("2", "frontend/lifecycle", #"{"phase":"inactive"}"#))
    _ = try await two.messages(2)
    _ = try await one.messages(4)
    two.send(request("3", "session/info"))
    try await two.expect(
      response(
        "3",
        "{\"session\":\"\(handle)\",\"frontend\":null,\"role\":\"observer\",\"stores\":["
          + #"{"store":"probe","kind":"probe","revision":1,"closed":true},"#
          + #"{"store":"todo","kind":"todo","revision":0,"closed":false}],"frontends":["#
          + #"{"frontend":"page","role":"driver","phase":"active","self":false},"#
          + #"{"frontend":null,"role":"observer","phase":"inactive","self":true}],"outlives":120}"#)
    )
  }

  @Test("each subscriber of a store has its own format")
  func formats() async throws {
    let world = World()
    let (one, two) = (TestClient(world, .lines), TestClient(world, .headers))
    let handle = try await open(one)
    two.send(
      attach("1", handle), request("2", "store/subscribe", #"{"store":"probe","format":"state"}"#))
    _ = try await two.messages(2)
    one.send(subscribe("1"), set("2", 1))
    try await two.expect(
      #"{"method":"store/changed","params":{"store":"probe","base":0,"revision":1,"#
        + #""state":{"number":1,"text":""},"applied":null}}"#)
    _ = try await one.messages(4)
  }
}
