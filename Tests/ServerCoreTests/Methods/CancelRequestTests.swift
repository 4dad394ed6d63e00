// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("$/cancelRequest", .timeLimit(.minutes(15)))
struct CancelRequestTests {
  static func cancelling(_ id: String, _ other: String) -> String {
    request(id, "$/cancelRequest", "{\"id\":\(other)}")
  }

  static let scripts = [
    Script(
      "a notification cancels an open request",
      .send(work("1", "a")), .expectNothing,
      .send(cancel("1")), .expect(failure("1", -32800)),
      .send(request("2", "ping")), .expect(response("2"))
    ),
    Script(
      "a request cancels an open request, whose response is sent first",
      .send(work("1", "a"), cancelling("2", "1")), .expect(failure("1", -32800), response("2")),
      .send(cancelling("3", "1")), .expect(response("3"))
    ),
    Script(
      "a completed request gets no second response, but its effects end",
      .send(subscribe("0"), work("1", "a", settle: false), cancel("1")),
      .expect(response("0", BatchTests.state), sent("1", revision: 0, changed: false)),
      .order("a", .set(9)),
      .send(set("2", 1)),
      .expect(changed(0, 1, number: 1, applied: "2"), sent("2", revision: 1))
    ),
    Script(
      "all effects of the request end, and the effects of other requests continue",
      .send(
        send("1", #"{"type":"workTwice","first":"a","second":"b"}"#, settle: true), work("2", "c"),
        cancel("1")),
      .expect(failure("1", -32800)),
      .order("a", .set(1)), .order("b", .set(2)), .order("c", .set(3), .end),
      .expect(sent("2", revision: 1))
    ),
    Script(
      "an unknown id is not an error",
      .send(cancelling("1", "7"), cancelling("2", "\"x\""), cancelling("3", "3")),
      .expect(response("1"), response("2"), response("3"))
    ),
    Script(
      "a value that cannot be an id is an error",
      .send(
        request("1", "$/cancelRequest"), cancelling("2", "null"), cancelling("3", "{}"),
        cancelling("4", "[1]"), cancelling("5", "true"), request("6", "$/cancelRequest", "[1]")),
      .expect(
        refusal("1", path: "/id"), refusal("2", path: "/id"), refusal("3", path: "/id"),
        refusal("4", path: "/id"), refusal("5", path: "/id"), refusal("6", path: ""))
    ),
    Script(
      "a number differs from the string of its digits",
      .send(work("1", "a"), work("\"1\"", "b"), cancel("\"1\"")), .expect(failure("\"1\"", -32800)),
      .send(cancel("1")), .expect(failure("1", -32800))
    ),
    Script(
      "strings are compared unescaped, and returned as the request had them",
      .send(work(#""a\/\u00e9\n""#, "a"), cancel(#""a/é\u000a""#)),
      .expect(failure(#""a\/\u00e9\n""#, -32800))
    ),
    Script(
      "numbers are compared by their texts",
      .send(work("1e2", "a"), cancel("100"), cancel("1E2"), cancel("1e2")),
      .expect(failure("1e2", -32800)),
      .send(work("-0", "b"), cancel("0"), cancel("-0")), .expect(failure("-0", -32800)),
      .send(
        work("123456789012345678901234567890", "c"), cancel("123456789012345678901234567890")),
      .expect(failure("123456789012345678901234567890", -32800))
    ),
    Script(
      "of several requests with one id, the latest is cancelled",
      .send(work("1", "a"), work("1", "b"), cancel("1"), cancel("1")),
      .expect(failure("1", -32800)),
      .order("b", .set(7)), .order("a", .set(5), .end), .expect(sent("1", revision: 1))
    ),
    Script(
      "an earlier, completed request with the same id makes no difference",
      .send(work("1", "a"), work("1", "b")), .expectNothing,
      .order("a", .end), .expect(sent("1", revision: 0, changed: false)),
      .send(cancel("1")), .expect(failure("1", -32800))
    ),
    Script(
      "after the latest request with an id has ended, an earlier one is not cancelled",
      .send(work("1", "a"), work("1", "b")), .expectNothing,
      .order("b", .end), .expect(sent("1", revision: 0, changed: false)),
      .send(cancel("1")), .order("a", .set(5), .end), .expect(sent("1", revision: 1))
    ),
    Script(
      "work that has become a feed is not cancelled",
      .send(subscribe("0"), work("1", "a")),
      .expect(response("0", BatchTests.state)),
      .order("a", .becomeFeed), .expect(sent("1", revision: 0, changed: false)),
      .send(cancelling("2", "1")), .expect(response("2")),
      .order("a", .set(4)), .expect(changed(0, 1, number: 4, applied: "1"))
    ),
  ]

  @Test("a cancel request ends the matching request", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }

  @Test("the work of a cancelled request is cancelled")
  func effects() async throws {
    let client = TestClient()
    client.send(work("1", "a"))
    await client.world.orders.begun("a")
    client.send(cancel("1"))
    try await client.expect(failure("1", -32800))
    await client.world.orders.cancelled("a")
  }
}
