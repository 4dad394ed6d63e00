// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServerCore

@Suite("Batches", .timeLimit(.minutes(15)))
struct BatchTests {
  static let state = #"{"revision":0,"state":{"number":0,"text":""}}"#

  static let scripts = [
    Script(
      "a batch of one request gets an array of one response",
      .send("[\(request("1", "ping"))]"), .expect("[\(response("1"))]")
    ),
    Script(
      "requests and invalid elements each get a response, and notifications none",
      .send(
        """
        [\(request("1", "ping")),\(notification("ping")),2,\(request("3", "none")),[],\
        \(request("4", "store/state", "{}")),\(request("5", "store/send", "[]")),null,\
        {"jsonrpc":"2.0","id":6,"result":{}}]
        """),
      .expect(
        """
        [\(response("1")),\(failure("null", -32600)),\(failure("3", -32601)),\
        \(failure("null", -32600)),\(refusal("4", path: "/store")),\(refusal("5", path: "")),\
        \(failure("null", -32600))]
        """)
    ),
    Script(
      "a batch of notifications gets no response, and is executed",
      .send(
        subscribe("1"),
        """
        [\(notification("store/send", #"{"store":"probe","input":{"type":"set","number":1}}"#)),\
        \(notification("store/send", #"{"store":"probe","input":{"type":"set","number":2}}"#))]
        """),
      .expect(
        response("1", state), changed(0, 1, number: 1, applied: "null"),
        changed(1, 2, number: 2, applied: "null"))
    ),
    Script(
      "updates precede the responses, which are sent together",
      .send("[\(subscribe("1")),\(set("2", 7)),\(set("3", 8)),\(set("4", 8))]"),
      .expect(
        changed(0, 1, number: 7, applied: "2"), changed(1, 2, number: 8, applied: "3"),
        """
        [\(response("1", state)),\(sent("2", revision: 1)),\(sent("3", revision: 2)),\
        \(sent("4", revision: 2, changed: false))]
        """)
    ),
    Script(
      "a request that settles later delays the response of the whole batch",
      .send(subscribe("0"), "[\(work("1", "a")),\(request("2", "ping")),\(work("3", "b"))]"),
      .expect(response("0", state)),
      .send(request("4", "ping")), .expect(response("4")),
      .order("b", .set(5)), .expect(changed(0, 1, number: 5, applied: "3")),
      .send(cancel("3")), .expectNothing,
      .order("a", .set(6), .end),
      .expect(
        changed(1, 2, number: 6, applied: "3"),
        "[\(response("2")),\(failure("3", -32800)),\(sent("1", revision: 2))]")
    ),
    Script(
      "a batch in which every request settles later",
      .send("[\(work("1", "a"))]"), .expectNothing,
      .order("a", .end), .expect("[\(sent("1", revision: 0, changed: false))]")
    ),
    Script(
      "the response of a batch does not wait for a notification that settles later",
      .send(
        """
        [\(notification("store/send", #"{"store":"probe","input":{"type":"work","name":"a"},"settle":true}"#)),\
        \(request("1", "ping"))]
        """),
      .expect("[\(response("1"))]")
    ),
    Script(
      "one request of a batch can cancel another",
      .send("[\(work("1", "a")),\(request("2", "$/cancelRequest", #"{"id":1}"#))]"),
      .expect("[\(failure("1", -32800)),\(response("2"))]")
    ),
    Script(
      "batches do not nest",
      .send("[[\(request("1", "ping"))]]"), .expect("[\(failure("null", -32600))]")
    ),
    Script(
      "two batches wait independently of each other",
      .send("[\(work("1", "a"))]", "[\(work("1", "b"))]"),
      .order("b", .end), .expect("[\(sent("1", revision: 0, changed: false))]"),
      .order("a", .end), .expect("[\(sent("1", revision: 0, changed: false))]")
    ),
  ]

  @Test("the server responds to batches", arguments: scripts)
  func batch(_ script: Script) async throws { try await script.run() }

  @Test("a batch has at most as many elements as the limit, including notifications")
  func limit() async throws {
    var limits = ServerLimits()
    limits.batchLength = 3
    let client = TestClient(limits: limits)
    let ping = request("1", "ping")
    let note = notification("ping")
    let error = failure("null", -32015, data: "{\"limit\":\"batchLength\"}")
    client.send(
      "[\(ping),\(note),\(ping)]", "[\(ping),\(note),\(ping),1]",
      "[\(note),\(note),\(note),\(note)]")
    try await client.expect("[\(response("1")),\(response("1"))]", error, error)
  }

  @Test("the server stops collecting the responses of a batch at the outbox limit")
  func responsesTooLong() async throws {
    var limits = ServerLimits()
    limits.outboxBytes = 1000
    let client = TestClient(limits: limits)
    let text = String(repeating: "x", count: 600)
    client.send(send("0", "{\"type\":\"say\",\"text\":\"\(text)\"}"))
    try await client.expect(sent("0", revision: 1))
    let states = (1...4).map { request("\($0)", "store/state", #"{"store":"probe"}"#) }
    let note = notification("store/send", #"{"store":"probe","input":{"type":"set","number":1}}"#)
    client.send("[\(states.joined(separator: ",")),\(note)]")
    let messages = try await client.messages(1)
    #expect(messages.count == 1)
    #expect(messages[0].hasPrefix(#"[{"jsonrpc":"2.0","id":1,"result":{"revision":1,"#))
    #expect(messages[0].contains(#""id":2,"result":"#))
    for id in 3...4 {
      #expect(messages[0].contains("\"id\":\(id),\"error\":{\"code\":-32015,"))
    }
    #expect(!client.isClosed)
    // Notifications of the batch are executed nevertheless.
    client.send(set("5", 1))
    try await client.expect(sent("5", revision: 2, changed: false))
  }
}
