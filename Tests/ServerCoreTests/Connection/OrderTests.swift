// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import Testing

@testable import ServerCore

/// The promises of `PROTOCOL.md` about the order of messages.
@Suite("Order", .timeLimit(.minutes(15)))
struct OrderTests {
  static let scripts = [
    Script(
      "the update of an input precedes its response",
      .send(subscribe("1"), set("2", 1), request("3", "ping"), set("4", 2)),
      .expect(
        response("1", BatchTests.state), changed(0, 1, number: 1, applied: "2"),
        sent("2", revision: 1), response("3"), changed(1, 2, number: 2, applied: "4"),
        sent("4", revision: 2))
    ),
    Script(
      "only the last update of an input names it in `applied`",
      .send(subscribe("1"), set("2", 5), send("3", #"{"type":"count","steps":3}"#)),
      .expect(
        response("1", BatchTests.state), changed(0, 1, number: 5, applied: "2"),
        sent("2", revision: 1), changed(1, 2, number: 6, applied: "2"),
        changed(2, 3, number: 7, applied: "2"), changed(3, 4, number: 8, applied: "3"),
        sent("3", revision: 4))
    ),
    Script(
      "updates before the first request name no request",
      .send(
        subscribe("1"),
        notification("store/send", #"{"store":"probe","input":{"type":"set","number":1}}"#),
        send("2", #"{"type":"count","steps":2}"#)),
      .expect(
        response("1", BatchTests.state), changed(0, 1, number: 1, applied: "null"),
        changed(1, 2, number: 2, applied: "null"), changed(2, 3, number: 3, applied: "2"),
        sent("2", revision: 3))
    ),
    Script(
      "an input without a change sends no update, and the next update names it in `applied`",
      .send(
        subscribe("1"), set("2", 0), send("3", #"{"type":"none"}"#),
        notification("store/send", #"{"store":"probe","input":{"type":"set","number":1}}"#)),
      .expect(
        response("1", BatchTests.state), sent("2", revision: 0, changed: false),
        refusal("3", path: "/input/type"), changed(0, 1, number: 1, applied: "2"))
    ),
    Script(
      "updates of running work name the latest request",
      .send(subscribe("1"), work("2", "a")), .expect(response("1", BatchTests.state)),
      .order("a", .set(1)), .expect(changed(0, 1, number: 1, applied: "2")),
      .send(set("3", 2)),
      .expect(changed(1, 2, number: 2, applied: "3"), sent("3", revision: 2)),
      .order("a", .set(3), .end),
      .expect(changed(2, 3, number: 3, applied: "3"), sent("2", revision: 3))
    ),
    Script(
      "the response of a settling input follows all updates of its work",
      .send(
        subscribe("1"), send("2", #"{"type":"work","name":"a","number":1}"#, settle: true)),
      .expect(response("1", BatchTests.state), changed(0, 1, number: 1, applied: "2")),
      .order("a", .set(2), .set(3), .set(3), .end),
      .expect(
        changed(1, 2, number: 2, applied: "2"), changed(2, 3, number: 3, applied: "2"),
        sent("2", revision: 3))
    ),
    Script(
      "work that an input ends gets its response after the updates, and each update names its own request",
      .send(subscribe("1"), work("2", "a")), .expect(response("1", BatchTests.state)),
      .send(send("3", #"{"type":"stop","name":"a","number":5}"#)),
      .expect(
        changed(0, 1, number: 4, applied: "2"), changed(1, 2, number: 5, applied: "3"),
        sent("2", revision: 2), sent("3", revision: 2))
    ),
    Script(
      "two stores of one connection have separate revisions and requests",
      .send(
        request("1", "store/open", #"{"store":"other","kind":"probe"}"#), subscribe("2"),
        subscribe("3", "other"), set("4", 1), set("5", 2, to: "other"), set("6", 3)),
      .expect(
        response("1", #"{"revision":0}"#), response("2", BatchTests.state),
        response("3", BatchTests.state), changed(0, 1, number: 1, applied: "4"),
        sent("4", revision: 1), changed(0, 1, number: 2, applied: "5", store: "other"),
        sent("5", revision: 1), changed(1, 2, number: 3, applied: "6"), sent("6", revision: 2)),
      .send(
        notification("store/send", #"{"store":"other","input":{"type":"set","number":7}}"#)),
      .expect(changed(1, 2, number: 7, applied: "5", store: "other"))
    ),
    Script(
      "a snapshot contains the changes that a connection missed while it was not subscribed",
      .send(
        subscribe("1"), request("2", "store/unsubscribe", #"{"store":"probe"}"#), set("3", 1),
        subscribe("4"), set("5", 2)),
      .expect(
        response("1", BatchTests.state), response("2"), sent("3", revision: 1),
        response("4", #"{"revision":1,"state":{"number":1,"text":""}}"#),
        changed(1, 2, number: 2, applied: "5"), sent("5", revision: 2))
    ),
  ]

  @Test("the server keeps the promised order", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }

  @Test("bases have no gap, and the patches lead to the state", arguments: 0..<20)
  func gapless(_ seed: UInt64) async throws {
    var random = FixedNumbers(seed: seed)
    let client = TestClient(World(), seed.isMultiple(of: 2) ? .lines : .headers)
    client.send(subscribe("0"))
    var messages = try await client.messages(1)
    var state = try JSONValue(parsing: messages[0])["result"]?["state"] ?? nil
    var revision = 0
    var latest = 0
    for id in 1...200 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: client.send(set("\(id)", Int.random(in: 0..<3, using: &random)))
      case 1: client.send(send("\(id)", #"{"type":"count","steps":\#(id % 5)}"#))
      case 2: client.send(send("\(id)", #"{"type":"say","text":"\#(id % 3)"}"#))
      default: client.send(send("\(id)", #"{"type":"nothing"}"#))
      }
      messages = client.takeMessages()
      for (index, message) in try messages.map({ try JSONValue(parsing: $0) }).enumerated() {
        guard let frame = message["params"] else {
          #expect(index == messages.count - 1)
          #expect(message["id"]?.int == id)
          #expect(message["result"]?["revision"]?.int == revision)
          latest = id
          continue
        }
        #expect(frame["base"]?.int == revision)
        revision += 1
        #expect(frame["revision"]?.int == revision)
        let isLast = index == messages.count - 2
        let applied = isLast ? id : latest
        #expect(frame["applied"] == (applied == 0 ? .null : JSONValue.number(JSONNumber(applied))))
        state = try JSONPatch(#require(frame["patch"])).apply(to: state)
      }
    }
    client.send(request("\"end\"", "store/state", #"{"store":"probe"}"#))
    let end = try JSONValue(parsing: client.takeMessages()[0])["result"]
    #expect(end?["state"] == state)
    #expect(end?["revision"]?.int == revision)
  }
}
