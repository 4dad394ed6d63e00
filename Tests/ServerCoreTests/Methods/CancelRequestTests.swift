// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("$/cancelRequest", .timeLimit(.minutes(5)))
struct CancelRequestTests {
  static func cancelling(_ id: String, _ other: String) -> String {
    request(id, "$/cancelRequest", "{\"id\":\(other)}")
  }

  static let scripts = [
    Script(
      "a notification cancels an open request",
      .send(work("1", "a")), .expectNothing,
      .send(cancel("1")), .expect(failure("1", -32800)),
      .send(request("2", "ping")), .expect(answer("2"))
    ),
    Script(
      "a request cancels an open request, whose answer comes first",
      .send(work("1", "a"), cancelling("2", "1")), .expect(failure("1", -32800), answer("2")),
      .send(cancelling("3", "1")), .expect(answer("3"))
    ),
    Script(
      "what has been answered is not answered again, but its effects end",
      .send(subscribe("0"), work("1", "a", settle: false), cancel("1")),
      .expect(answer("0", BatchTests.state), sent("1", revision: 0, changed: false)),
      .order("a", .set(9)),
      .send(set("2", 1)),
      .expect(changed(0, 1, number: 1, applied: "2"), sent("2", revision: 1))
    ),
    Script(
      "all effects of the request end, and those of others go on",
      .send(
        send("1", #"{"type":"workTwice","first":"a","second":"b"}"#, settle: true), work("2", "c"),
        cancel("1")),
      .expect(failure("1", -32800)),
      .order("a", .set(1)), .order("b", .set(2)), .order("c", .set(3), .end),
      .expect(sent("2", revision: 1))
    ),
    Script(
      "an id that is not known is no error",
      .send(cancelling("1", "7"), cancelling("2", "\"x\""), cancelling("3", "3")),
      .expect(answer("1"), answer("2"), answer("3"))
    ),
    Script(
      "what can be no id is one",
      .send(
        request("1", "$/cancelRequest"), cancelling("2", "null"), cancelling("3", "{}"),
        cancelling("4", "[1]"), cancelling("5", "true"), request("6", "$/cancelRequest", "[1]")),
      .expect(
        refusal("1", path: "/id"), refusal("2", path: "/id"), refusal("3", path: "/id"),
        refusal("4", path: "/id"), refusal("5", path: "/id"), refusal("6", path: ""))
    ),
    Script(
      "a number is not the string of its digits",
      .send(work("1", "a"), work("\"1\"", "b"), cancel("\"1\"")), .expect(failure("\"1\"", -32800)),
      .send(cancel("1")), .expect(failure("1", -32800))
    ),
    Script(
      "strings are the same however they are escaped, and come back as the request had them",
      .send(work(#""a\/\u00e9\n""#, "a"), cancel(#""a/é\u000a""#)),
      .expect(failure(#""a\/\u00e9\n""#, -32800))
    ),
    Script(
      "numbers are the same if their texts are",
      .send(work("1e2", "a"), cancel("100"), cancel("1E2"), cancel("1e2")),
      .expect(failure("1e2", -32800)),
      .send(work("-0", "b"), cancel("0"), cancel("-0")), .expect(failure("-0", -32800)),
      .send(
        work("123456789012345678901234567890", "c"), cancel("123456789012345678901234567890")),
      .expect(failure("123456789012345678901234567890", -32800))
    ),
    Script(
      "of several with one id the latest is meant",
      .send(work("1", "a"), work("1", "b"), cancel("1"), cancel("1")),
      .expect(failure("1", -32800)),
      .order("b", .set(7)), .order("a", .set(5), .end), .expect(sent("1", revision: 1))
    ),
    Script(
      "that an earlier one with the same id has ended does not matter",
      .send(work("1", "a"), work("1", "b")), .expectNothing,
      .order("a", .end), .expect(sent("1", revision: 0, changed: false)),
      .send(cancel("1")), .expect(failure("1", -32800))
    ),
    Script(
      "once the latest with an id has ended, an earlier one is not meant",
      .send(work("1", "a"), work("1", "b")), .expectNothing,
      .order("b", .end), .expect(sent("1", revision: 0, changed: false)),
      .send(cancel("1")), .order("a", .set(5), .end), .expect(sent("1", revision: 1))
    ),
    Script(
      "what becomes a feed is not cancelled any more",
      .send(subscribe("0"), work("1", "a")),
      .expect(answer("0", BatchTests.state)),
      .order("a", .becomeFeed), .expect(sent("1", revision: 0, changed: false)),
      .send(cancelling("2", "1")), .expect(answer("2")),
      .order("a", .set(4)), .expect(changed(0, 1, number: 4, applied: "1"))
    ),
  ]

  @Test("cancels", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }

  @Test("the work hears of it")
  func effects() async throws {
    let peer = Peer()
    peer.send(work("1", "a"))
    await peer.world.orders.begun("a")
    peer.send(cancel("1"))
    try await peer.expect(failure("1", -32800))
    await peer.world.orders.cancelled("a")
  }
}
