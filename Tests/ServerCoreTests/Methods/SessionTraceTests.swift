// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("session/trace, frontend/lifecycle and store/event", .timeLimit(.minutes(15)))
struct SessionTraceTests {
  private static func trace(_ id: String, _ on: Bool) -> String {
    request(id, "session/trace", "{\"on\":\(on)}")
  }

  private static func traced(
    _ seq: Int, _ stage: String, _ operation: String, _ number: Int, _ hook: String,
    input: String? = nil, action: String? = nil, failed: Bool = false, revision: Int,
    store: String = "fallible"
  ) -> String {
    let input = input.map { "\"\($0)\"" } ?? "null"
    let action = action.map { "\"\($0)\"" } ?? "null"
    return """
      {"method":"session/traced","params":{"seq":\(seq),"store":"\(store)","stage":"\(stage)",\
      "operation":"\(operation)","number":\(number),"hook":"\(hook)","input":\(input),\
      "action":\(action),"failed":\(failed),"revision":\(revision)}}
      """
  }

  private static func set(_ id: String, _ number: Int) -> String {
    send(id, "{\"type\":\"atOnce\",\"number\":\(number)}", to: "fallible")
  }

  static let scripts = [
    Script(
      "a trace names the steps of each operation, without values, while it is on",
      .send(set("1", 4)), .expect(sent("1", revision: 1)),
      .send(trace("2", true)), .expect(response("2")),
      .send(set("3", -1)),
      .expect(
        traced(1, "input", "input", 2, "receiveSubscription", revision: 1),
        traced(2, "input", "input", 2, "receiveRequest", input: "atOnce", revision: 1),
        traced(3, "operation", "set", 1, "receiveSubscription", revision: 1),
        traced(4, "operation", "set", 1, "receiveRequest", revision: 1),
        traced(
          5, "operation", "set", 1, "receiveOutput", action: "Int", failed: true, revision: 1),
        traced(6, "input", "input", 2, "receiveOutput", action: "Int", revision: 1),
        traced(7, "action", "actions", 0, "receiveOutput", action: "Int", revision: 1),
        traced(8, "state", "states", 0, "receiveOutput", revision: 2),
        traced(9, "operation", "set", 1, "receiveCompletion", failed: true, revision: 2),
        traced(10, "input", "input", 2, "receiveCompletion", revision: 2),
        sent("3", revision: 2)),
      .send(trace("4", false), set("5", 6)),
      .expect(response("4"), sent("5", revision: 3)),
      // Each trace is numbered from 1, and includes stores that are opened later.
      .send(trace("6", true), send("7", #"{"type":"nothing"}"#)),
      .expect(
        response("6"),
        traced(1, "input", "input", 1, "receiveSubscription", revision: 0, store: "probe"),
        traced(
          2, "input", "input", 1, "receiveRequest", input: "nothing", revision: 0,
          store: "probe"),
        traced(3, "input", "input", 1, "receiveCompletion", revision: 0, store: "probe"),
        sent("7", revision: 0, changed: false))
    ),
    Script(
      "session/trace requires the parameter `on`",
      .send(request("1", "session/trace", "{}"), request("2", "session/trace", #"{"on":1}"#)),
      .expect(refusal("1", path: "/on"), refusal("2", path: "/on"))
    ),
    Script(
      "stores receive each phase change once, also stores that are opened later",
      .send(set("1", 4)), .expect(sent("1", revision: 1)),
      .send(
        subscribe("2", "fallible"), request("3", "frontend/lifecycle", #"{"phase":"inactive"}"#),
        request("4", "frontend/lifecycle", #"{"phase":"inactive"}"#)),
      .expect(
        response("2", #"{"revision":1,"state":{"number":4}}"#),
        changed(1, 2, number: 0, applied: "1", store: "fallible"), response("3"), response("4")),
      .send(set("5", 5), request("6", "frontend/lifecycle", #"{"phase":"active"}"#)),
      .expect(
        changed(2, 3, number: 5, applied: "5", store: "fallible"), sent("5", revision: 3),
        response("6")),
      .send(request("7", "frontend/lifecycle", #"{"phase":"asleep"}"#)),
      .expect(refusal("7", path: "/phase")),
      .send(request("8", "frontend/lifecycle", "{}")), .expect(refusal("8", path: "/phase"))
    ),
    Script(
      "only subscribers receive an event, after the update and before the response",
      .send(set("1", 13)), .expect(sent("1", revision: 1)),
      .send(set("2", 1), subscribe("3", "fallible"), set("4", 13)),
      .expect(
        sent("2", revision: 2), response("3", #"{"revision":2,"state":{"number":1}}"#),
        changed(2, 3, number: 13, applied: "4", store: "fallible"),
        #"{"method":"store/event","params":{"store":"fallible","event":{"wasSetTo":13}}}"#,
        sent("4", revision: 3)),
      // Also if the state does not change.
      .send(set("5", 13)),
      .expect(
        #"{"method":"store/event","params":{"store":"fallible","event":{"wasSetTo":13}}}"#,
        sent("5", revision: 3, changed: false))
    ),
  ]

  @Test("traces, phases and events follow the protocol", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }
}
