// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("store/subscribe and store/unsubscribe", .timeLimit(.minutes(15)))
struct StoreSubscribeTests {
  static func subscribe(_ id: String, _ format: String?) -> String {
    let format = format.map { ",\"format\":\($0)" } ?? ""
    return request(id, "store/subscribe", "{\"store\":\"probe\"\(format)}")
  }

  static func snapshot(_ id: String, _ revision: Int, _ number: Int) -> String {
    response(id, "{\"revision\":\(revision),\"state\":{\"number\":\(number),\"text\":\"\"}}")
  }

  static func stateFrame(_ base: Int, _ revision: Int, _ number: Int, applied: String) -> String {
    """
    {"method":"store/changed","params":{"store":"probe","base":\(base),"revision":\(revision),\
    "state":{"number":\(number),"text":""},"applied":\(applied)}}
    """
  }

  static let scripts = [
    Script(
      "a subscriber receives the state immediately, later changes, and nothing from before",
      .send(set("1", 1)), .expect(sent("1", revision: 1)),
      .send(subscribe("2", nil)), .expect(snapshot("2", 1, 1)),
      .send(set("3", 2)),
      .expect(changed(1, 2, number: 2, applied: "3"), sent("3", revision: 2))
    ),
    Script(
      "the formats are `patch`, which is the default, and `state`",
      .send(subscribe("1", "null"), set("2", 1)),
      .expect(snapshot("1", 0, 0), changed(0, 1, number: 1, applied: "2"), sent("2", revision: 1)),
      .send(subscribe("3", "\"state\""), set("4", 2)),
      .expect(snapshot("3", 1, 1), stateFrame(1, 2, 2, applied: "4"), sent("4", revision: 2)),
      .send(subscribe("5", "\"patch\""), set("6", 3)),
      .expect(
        snapshot("5", 2, 2), changed(2, 3, number: 3, applied: "6"), sent("6", revision: 3))
    ),
    Script(
      "each of several updates has the state of its own revision",
      .send(
        subscribe("1", "\"state\""), send("2", #"{"type":"count","steps":3}"#)),
      .expect(
        snapshot("1", 0, 0), stateFrame(0, 1, 1, applied: "null"),
        stateFrame(1, 2, 2, applied: "null"), stateFrame(2, 3, 3, applied: "2"),
        sent("2", revision: 3))
    ),
    Script(
      "another format is an error, and changes nothing",
      .send(
        subscribe("1", nil), subscribe("2", "\"diff\""), subscribe("3", "7"),
        request("4", "store/subscribe", "{}"), set("5", 1)),
      .expect(
        snapshot("1", 0, 0), refusal("2", path: "/format"), refusal("3", path: "/format"),
        refusal("4", path: "/store"), changed(0, 1, number: 1, applied: "5"),
        sent("5", revision: 1))
    ),
    Script(
      "unsubscribing ends the updates, and is not an error without a subscription",
      .send(
        request("1", "store/unsubscribe", #"{"store":"probe"}"#), subscribe("2", nil),
        request("3", "store/unsubscribe", #"{"store":"probe"}"#), set("4", 1),
        request("5", "store/unsubscribe", #"{"store":"probe"}"#)),
      .expect(
        response("1"), snapshot("2", 0, 0), response("3"), sent("4", revision: 1), response("5")),
      .send(subscribe("6", nil), set("7", 2)),
      .expect(
        snapshot("6", 1, 1), changed(1, 2, number: 2, applied: "7"), sent("7", revision: 2))
    ),
    Script(
      "unsubscribing opens no store",
      .send(
        request("1", "store/unsubscribe", #"{"store":"probe"}"#),
        request("2", "store/close", #"{"store":"probe"}"#)),
      .expect(response("1"), failure("2", -32010))
    ),
    Script(
      "unknown stores and invalid parameters are errors",
      .send(
        request("1", "store/unsubscribe", #"{"store":"none"}"#),
        request("2", "store/unsubscribe"), request("3", "store/subscribe", #"{"store":"none"}"#)),
      .expect(failure("1", -32010), refusal("2", path: "/store"), failure("3", -32010))
    ),
    Script(
      "a notification subscribes too, without a response that has the state",
      .send(notification("store/subscribe", #"{"store":"probe"}"#), set("1", 1)),
      .expect(changed(0, 1, number: 1, applied: "1"), sent("1", revision: 1))
    ),
  ]

  @Test("subscribers receive changes", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }
}
