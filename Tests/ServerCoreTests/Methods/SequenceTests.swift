// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import TestSupport
import Testing

@testable import ServerCore

/// Refused inputs with sequence numbers.
@Suite("Sequence numbers", .timeLimit(.minutes(15)))
struct SequenceTests {
  private func numbered(_ sequence: Int, _ number: Int, isNotification: Bool = false) -> String {
    let params =
      "{\"store\":\"probe\",\"input\":{\"type\":\"set\",\"number\":\(number)},"
      + "\"sequence\":\(sequence)}"
    return isNotification
      ? notification("store/send", params) : request("\(sequence)", "store/send", params)
  }

  private func name(_ client: TestClient) async throws -> String {
    client.send(request("0", "session/open", #"{"frontend":"page"}"#))
    let response = try JSONValue(parsing: try await client.messages(1)[0])
    return response["result"]?.object?["session"]?.string ?? ""
  }

  private func attach(_ handle: String) -> String {
    request("0", "session/attach", "{\"session\":\"\(handle)\",\"frontend\":\"page\"}")
  }

  private func outOfOrder(_ id: String, _ sequence: Int) -> String {
    failure(id, -32019, data: "{\"sequence\":\(sequence)}")
  }

  /// Input 2 was refused because of its rate, and input 3, immediately after it, was accepted. The
  /// responses were lost, and the client read the sequence number 3 when it attached again. It
  /// concluded that 2 was accepted.
  @Test("after a temporary refusal, no later input is accepted before the refused one")
  func rate() async throws {
    let (world, time) = (World(), TestTime())
    var limits = ServerLimits()
    limits.inputsPerSecond = 1
    let client = TestClient(world, limits: limits, now: time.now)
    let handle = try await name(client)
    time.pass(.seconds(1))
    client.send(numbered(1, 1), numbered(2, 2), numbered(4, 4))
    try await client.expect(
      sent("1", revision: 1), LimitTests.limit("2", "inputsPerSecond"), outOfOrder("4", 2))
    time.pass(.seconds(1))
    // Inputs that are out of order do not count towards the rate.
    client.send(numbered(4, 4), numbered(5, 5), attach(handle), numbered(4, 4))
    try await client.expect(
      outOfOrder("4", 2), outOfOrder("5", 2), response("0", #"{"stores":{},"sequence":1}"#),
      outOfOrder("4", 2))
    // An accepted input may be repeated, and a second refusal keeps its place in the order.
    client.send(numbered(1, 1), numbered(2, 2))
    try await client.expect(
      sent("1", revision: 1, changed: false), LimitTests.limit("2", "inputsPerSecond"))
    client.send(numbered(4, 4))
    try await client.expect(outOfOrder("4", 2))
    time.pass(.seconds(1))
    client.send(numbered(2, 2))
    try await client.expect(sent("2", revision: 2))
    time.pass(.seconds(1))
    client.send(numbered(4, 4))
    try await client.expect(sent("4", revision: 3))
  }

  /// The client was notified that the store was closed, and concluded that an accepted input was
  /// refused.
  @Test("an accepted input stays accepted after its store was closed")
  func closed() async throws {
    let client = TestClient(World())
    _ = try await name(client)
    client.send(
      numbered(1, 1), request("2", "store/close", #"{"store":"probe"}"#), numbered(1, 1),
      numbered(2, 2))
    try await client.expect(
      sent("1", revision: 1), response("2"), sent("1", revision: 1, changed: false),
      failure("2", -32011))
    // The sequence number of a refused input is free.
    client.send(
      request("3", "store/open", #"{"store":"probe","kind":"probe"}"#), numbered(2, 2))
    try await client.expect(response("3", #"{"revision":2}"#), sent("2", revision: 3))
  }

  @Test("a repeated input that settles later gets a response when its store is closed")
  func closedMeanwhile() async throws {
    let client = TestClient(World())
    _ = try await name(client)
    func work(_ id: String, settle: Bool) -> String {
      request(
        id, "store/send",
        #"{"store":"probe","sequence":1,"settle":\#(settle),"input":{"type":"work","name":"a"}}"#)
    }
    client.send(work("1", settle: false), work("2", settle: true))
    try await client.expect(sent("1", revision: 0, changed: false))
    client.send(request("3", "store/close", #"{"store":"probe"}"#), work("4", settle: true))
    try await client.expect(
      sent("2", revision: 0, changed: false), response("3"), sent("4", revision: 0, changed: false))
  }

  @Test("a client that returns sends unaccepted inputs again, and loses none")
  func lost() async throws {
    let world = World()
    var limits = ServerLimits()
    limits.openRequests = 1
    let first = TestClient(world, limits: limits)
    let handle = try await name(first)
    first.send(work("1", "a"), numbered(1, 1))
    first.send(numbered(2, 2, isNotification: true))
    first.send(cancel("1"), numbered(3, 3))
    _ = try await first.messages(3)
    first.tell(.disconnected)

    let second = TestClient(world, limits: limits)
    second.send(attach(handle))
    try await second.expect(response("0", #"{"stores":{},"sequence":0}"#))
    second.send(numbered(1, 1), numbered(2, 2), numbered(3, 3))
    try await second.expect(
      sent("1", revision: 1), sent("2", revision: 2), sent("3", revision: 3))
  }

  @Test("requests of a batch with a response over the limit keep their places in the order")
  func batch() async throws {
    var limits = ServerLimits()
    limits.outboxBytes = 100
    let client = TestClient(World(), limits: limits)
    _ = try await name(client)
    let pings = Array(repeating: request("9", "ping"), count: 5).joined(separator: ",")
    client.send(
      "[\(pings),\(numbered(1, 1)),\(numbered(2, 2, isNotification: true))]", numbered(3, 3))
    let messages = try await client.messages(2)
    #expect(messages[0].contains("outboxBytes"))
    try #expect(Message(messages[1]) == Message(expected: outOfOrder("3", 1)))
    client.send(numbered(1, 1), numbered(2, 2))
    try await client.expect(sent("1", revision: 1), sent("2", revision: 2))
  }

  @Test("a permanent refusal does not block later inputs")
  func faults() async throws {
    let client = TestClient(World())
    _ = try await name(client)
    client.send(
      request(
        "1", "store/send", #"{"store":"probe","sequence":1,"input":{"type":"eaten"}}"#),
      request(
        "2", "store/send", #"{"store":"nothing","sequence":2,"input":{"type":"set"}}"#),
      numbered(3, 3))
    try await client.expect(
      refusal("1", path: "/input/type"), failure("2", -32010), sent("3", revision: 1))
  }

  /// Input 1 was refused, input 2 was accepted, and the connection ended before the responses
  /// arrived. When input 1 was sent again, the response stated that it was accepted, and its text
  /// was lost without notice.
  @Test("a refused input is refused again after a later one was accepted")
  func refusedAgain() async throws {
    let world = World()
    let first = TestClient(world)
    let handle = try await name(first)
    func faulty(_ id: String) -> String {
      request(id, "store/send", #"{"store":"probe","sequence":1,"input":{"type":"eaten"}}"#)
    }
    first.send(faulty("1"), numbered(2, 2))
    try await first.expect(refusal("1", path: "/input/type"), sent("2", revision: 1))
    first.tell(.disconnected)

    let second = TestClient(world)
    second.send(attach(handle), faulty("1"), numbered(2, 2))
    try await second.expect(
      response("0", #"{"stores":{},"sequence":2}"#), refusal("1", path: "/input/type"),
      sent("2", revision: 1, changed: false))
  }
}
