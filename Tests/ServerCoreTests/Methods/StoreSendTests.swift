// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ServerCore

@Suite("store/send", .timeLimit(.minutes(15)))
struct StoreSendTests {
  static let scripts = [
    Script(
      "the response has the revision, and `changed` if the state has changed",
      .send(set("1", 1), set("2", 1), send("3", #"{"type":"nothing"}"#), set("4", 2)),
      .expect(
        sent("1", revision: 1), sent("2", revision: 1, changed: false),
        sent("3", revision: 1, changed: false), sent("4", revision: 2))
    ),
    Script(
      "an input that is already settled gets its response immediately, also with `settle`",
      .send(send("1", #"{"type":"set","number":1}"#, settle: true)),
      .expect(sent("1", revision: 1))
    ),
    Script(
      "settling waits for all effects of the input, and for no other effects",
      .send(
        send("1", #"{"type":"workTwice","first":"a","second":"b"}"#, settle: true),
        work("2", "c", settle: false)),
      .expect(sent("2", revision: 0, changed: false)),
      .order("a", .end), .expectNothing,
      .order("b", .set(4), .end), .expect(sent("1", revision: 1))
    ),
    Script(
      "settling does not wait for feeds",
      .send(work("1", "a")), .expectNothing,
      .order("a", .becomeFeed), .expect(sent("1", revision: 0, changed: false)),
      .send(subscribe("2")), .expect(response("2", BatchTests.state)),
      .order("a", .set(3)), .expect(changed(0, 1, number: 3, applied: "1"))
    ),
    Script(
      "without `settle`, the response precedes the updates of the work",
      .send(subscribe("1"), work("2", "a", settle: false)),
      .expect(response("1", BatchTests.state), sent("2", revision: 0, changed: false)),
      .order("a", .set(3), .end), .expect(changed(0, 1, number: 3, applied: "2"))
    ),
    Script(
      "the response at settling has the revision of that time, and counts changes by other inputs",
      .send(work("1", "a")), .expectNothing,
      .send(set("2", 8)), .expect(sent("2", revision: 1)),
      .order("a", .end), .expect(sent("1", revision: 1, changed: true))
    ),
    Script(
      "an invalid input is an error with its path, and changes nothing",
      .send(
        send("1", #"{"type":"todoAdded","title":7}"#, to: "todo"),
        send("2", #"{"type":"todoAdded","title":" "}"#, to: "todo"),
        send("3", #"{"type":"todoAdded"}"#, to: "todo"),
        send("4", #"{"type":"none"}"#, to: "todo"), send("5", "[]", to: "todo"),
        send("6", #"{"type":"todosUpdated","todos":[]}"#, to: "todo"),
        send("7", #"{"type":"set","number":1.5}"#), send("8", #"{"type":"set"}"#),
        send("9", #"{"type":"say","text":["x"]}"#), send("10", #"{"number":1}"#),
        send("11", "null"), send("12", #"{"type":"set","number":1e400}"#)),
      .expect(
        refusal("1", path: "/input/title"), refusal("2", path: "/input/title"),
        refusal("3", path: "/input/title"), refusal("4", path: "/input/type"),
        refusal("5", path: "/input"), refusal("6", path: "/input/type"),
        refusal("7", path: "/input/number"), refusal("8", path: "/input/number"),
        refusal("9", path: "/input/text"), refusal("10", path: "/input/type"),
        refusal("11", path: "/input"), refusal("12", path: "/input/number")),
      .send(request("13", "store/state", #"{"store":"probe"}"#)),
      .expect(
        response(
          "13", #"{"revision":0,"state":{"number":0,"text":""},"digest":2969048830}"#))
    ),
    Script(
      "invalid parameters are errors with their paths",
      .send(
        request("1", "store/send"), request("2", "store/send", "{}"),
        request("3", "store/send", #"{"store":"probe"}"#),
        request("4", "store/send", #"{"input":{}}"#),
        request("5", "store/send", #"{"store":7,"input":{}}"#),
        request("6", "store/send", #"{"store":"probe","input":{"type":"nothing"},"settle":1}"#),
        request("7", "store/send", #"{"store":"none","input":{}}"#)),
      .expect(
        refusal("1", path: "/store"), refusal("2", path: "/store"), refusal("3", path: "/input"),
        refusal("4", path: "/store"), refusal("5", path: "/store"),
        refusal("6", path: "/settle"), failure("7", -32010))
    ),
    Script(
      "a sequence number is refused if the client has no name",
      .send(
        request(
          "1", "store/send", #"{"store":"probe","input":{"type":"set","number":1},"sequence":1}"#),
        request(
          "2", "store/send",
          #"{"sequence": null ,"settle":null,"store":"probe","input":{"type":"nothing"}}"#)),
      .expect(refusal("1", path: "/sequence"), sent("2", revision: 0, changed: false))
    ),
    Script(
      "unknown members are ignored, in the parameters and in the input",
      .send(
        request(
          "1", "store/send",
          #"{"x":{"store":1},"input":{"a":[],"number":5,"type":"set","b":{}},"y":0,"store":"probe"}"#
        )),
      .expect(sent("1", revision: 1))
    ),
    Script(
      "the todo list, from end to end",
      .send(
        request("1", "store/open", #"{"store":"t","kind":"todo","config":{"memory":{"count":2}}}"#),
        subscribe("2", "t"), send("3", #"{"type":"stateRequested"}"#, to: "t")),
      .expect(
        response("1", #"{"revision":0}"#),
        response("2", #"{"revision":0,"state":{"type":"loading"}}"#),
        """
        {"method":"store/changed","params":{"store":"t","base":0,"revision":1,"patch":\
        [{"op":"replace","path":"","value":{"type":"content","todos":[\
        {"id":"1","title":"Todo 1","completed":false},\
        {"id":"2","title":"Todo 2","completed":false}]}}],"applied":3}}
        """,
        sent("3", revision: 1)),
      .send(send("4", #"{"type":"todoAdded","title":"Milk"}"#, to: "t")),
      .expect(
        """
        {"method":"store/changed","params":{"store":"t","base":1,"revision":2,"patch":\
        [{"op":"add","path":"/todos/2","value":{"id":"3","title":"Milk","completed":false}}],\
        "applied":4}}
        """,
        sent("4", revision: 2))
    ),
  ]

  @Test("stores accept inputs", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }

  @Test("the number of requests with running effects is limited, including notifications")
  func openRequests() async throws {
    var limits = ServerLimits()
    limits.openRequests = 3
    let client = TestClient(limits: limits)
    let error = failure("9", -32015, data: #"{"limit":"openRequests"}"#)
    client.send(
      work("1", "a"), work("2", "b", settle: false),
      notification("store/send", #"{"store":"probe","input":{"type":"work","name":"c"}}"#),
      set("9", 1), work("9", "d"), request("3", "ping"))
    try await client.expect(sent("2", revision: 0, changed: false), error, error, response("3"))
    // A notification over the limit is dropped, and changes nothing.
    client.send(notification("store/send", #"{"store":"probe","input":{"type":"set","number":7}}"#))
    for name in ["c", "b", "a"] { client.world.orders.tell(name, .end) }
    try await client.expect(sent("1", revision: 0, changed: false))
    client.send(set("4", 1), work("5", "e"))
    client.world.orders.tell("e", .end)
    try await client.expect(sent("4", revision: 1), sent("5", revision: 1, changed: false))
  }

  @Test("work that has become a feed does not count as running")
  func feeds() async throws {
    var limits = ServerLimits()
    limits.openRequests = 1
    let client = TestClient(limits: limits)
    for name in ["a", "b"] {
      client.send(work("1", name))
      client.world.orders.tell(name, .becomeFeed)
      try await client.expect(sent("1", revision: 0, changed: false))
    }
  }

  @Test("timers count as running")
  func timers() async throws {
    let client = TestClient()
    client.send(send("1", #"{"type":"sleep","seconds":5}"#, settle: true))
    client.expectNothing()
    // The work sends nothing before it sleeps, so the test polls the clock.
    await eventually("the work sleeps") { client.world.clock.sleeperCount > 0 }
    client.world.clock.advance(to: client.world.clock.now.advanced(by: .seconds(5)))
    try await client.expect(sent("1", revision: 1))
  }
}
