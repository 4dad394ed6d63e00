// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import TestSupport
import Testing

@testable import ServerCore

/// Inputs that a frontend numbers, and that are refused.
@Suite("sequence", .timeLimit(.minutes(5)))
struct SequenceTests {
  private func numbered(_ sequence: Int, _ number: Int, isNotification: Bool = false) -> String {
    let params =
      "{\"store\":\"probe\",\"input\":{\"type\":\"set\",\"number\":\(number)},"
      + "\"sequence\":\(sequence)}"
    return isNotification
      ? notification("store/send", params) : request("\(sequence)", "store/send", params)
  }

  private func name(_ peer: Peer) async throws -> String {
    peer.send(request("0", "session/open", #"{"frontend":"page"}"#))
    let answer = try JSONValue(parsing: try await peer.messages(1)[0])
    return answer["result"]?.object?["session"]?.string ?? ""
  }

  private func attach(_ handle: String) -> String {
    request("0", "session/attach", "{\"session\":\"\(handle)\",\"frontend\":\"page\"}")
  }

  private func behind(_ id: String, _ sequence: Int) -> String {
    failure(id, -32019, data: "{\"sequence\":\(sequence)}")
  }

  /// 2 was refused for its rate and 3, which came right behind it, was taken. The answers were lost, and
  /// the frontend was told 3 when it came back: it took 2 for accepted.
  @Test("no input is accepted behind one that was refused for the moment")
  func rate() async throws {
    let (world, time) = (World(), TestTime())
    var limits = ServerLimits()
    limits.inputsPerSecond = 1
    let peer = Peer(world, limits: limits, now: time.now)
    let handle = try await name(peer)
    time.pass(.seconds(1))
    peer.send(numbered(1, 1), numbered(2, 2), numbered(4, 4))
    try await peer.expect(
      sent("1", revision: 1), LimitTests.limit("2", "inputsPerSecond"), behind("4", 2))
    time.pass(.seconds(1))
    // What waits for its turn takes nothing of the rate.
    peer.send(numbered(4, 4), numbered(5, 5), attach(handle), numbered(4, 4))
    try await peer.expect(
      behind("4", 2), behind("5", 2), answer("0", #"{"stores":{},"sequence":1}"#), behind("4", 2))
    // What was accepted before is in nobody's way, and refusing again keeps the place.
    peer.send(numbered(1, 1), numbered(2, 2))
    try await peer.expect(
      sent("1", revision: 1, changed: false), LimitTests.limit("2", "inputsPerSecond"))
    peer.send(numbered(4, 4))
    try await peer.expect(behind("4", 2))
    time.pass(.seconds(1))
    peer.send(numbered(2, 2))
    try await peer.expect(sent("2", revision: 2))
    time.pass(.seconds(1))
    peer.send(numbered(4, 4))
    try await peer.expect(sent("4", revision: 3))
  }

  /// It was told that the store was closed, and took an input for refused that had been accepted.
  @Test("what was accepted stays so where its store has been closed since")
  func closed() async throws {
    let peer = Peer(World())
    _ = try await name(peer)
    peer.send(
      numbered(1, 1), request("2", "store/close", #"{"store":"probe"}"#), numbered(1, 1),
      numbered(2, 2))
    try await peer.expect(
      sent("1", revision: 1), answer("2"), sent("1", revision: 1, changed: false),
      failure("2", -32011))
    // The number of what was refused is free.
    peer.send(
      request("3", "store/open", #"{"store":"probe","kind":"probe"}"#), numbered(2, 2))
    try await peer.expect(answer("3", #"{"revision":2}"#), sent("2", revision: 3))
  }

  @Test("a repeat that waits for the end is told so where its store is closed meanwhile")
  func closedMeanwhile() async throws {
    let peer = Peer(World())
    _ = try await name(peer)
    func work(_ id: String, settle: Bool) -> String {
      request(
        id, "store/send",
        #"{"store":"probe","sequence":1,"settle":\#(settle),"input":{"type":"work","name":"a"}}"#)
    }
    peer.send(work("1", settle: false), work("2", settle: true))
    try await peer.expect(sent("1", revision: 0, changed: false))
    peer.send(request("3", "store/close", #"{"store":"probe"}"#), work("4", settle: true))
    try await peer.expect(
      sent("2", revision: 0, changed: false), answer("3"), sent("4", revision: 0, changed: false))
  }

  @Test("a frontend that comes back sends again what was not accepted, and loses nothing")
  func lost() async throws {
    let world = World()
    var limits = ServerLimits()
    limits.openRequests = 1
    let first = Peer(world, limits: limits)
    let handle = try await name(first)
    first.send(work("1", "a"), numbered(1, 1))
    first.send(numbered(2, 2, isNotification: true))
    first.send(cancel("1"), numbered(3, 3))
    _ = try await first.messages(3)
    first.tell(.disconnected)

    let second = Peer(world, limits: limits)
    second.send(attach(handle))
    try await second.expect(answer("0", #"{"stores":{},"sequence":0}"#))
    second.send(numbered(1, 1), numbered(2, 2), numbered(3, 3))
    try await second.expect(
      sent("1", revision: 1), sent("2", revision: 2), sent("3", revision: 3))
  }

  @Test("the requests of a batch whose answers are too long keep their places too")
  func batch() async throws {
    var limits = ServerLimits()
    limits.outboxBytes = 100
    let peer = Peer(World(), limits: limits)
    _ = try await name(peer)
    let pings = Array(repeating: request("9", "ping"), count: 5).joined(separator: ",")
    peer.send(
      "[\(pings),\(numbered(1, 1)),\(numbered(2, 2, isNotification: true))]", numbered(3, 3))
    let messages = try await peer.messages(2)
    #expect(messages[0].contains("outboxBytes"))
    try #expect(Message(messages[1]) == Message(expected: behind("3", 1)))
    peer.send(numbered(1, 1), numbered(2, 2))
    try await peer.expect(sent("1", revision: 1), sent("2", revision: 2))
  }

  @Test("what is refused for what it is stands in nobody's way")
  func faults() async throws {
    let peer = Peer(World())
    _ = try await name(peer)
    peer.send(
      request(
        "1", "store/send", #"{"store":"probe","sequence":1,"input":{"type":"eaten"}}"#),
      request(
        "2", "store/send", #"{"store":"nothing","sequence":2,"input":{"type":"set"}}"#),
      numbered(3, 3))
    try await peer.expect(
      refusal("1", path: "/input/type"), failure("2", -32010), sent("3", revision: 1))
  }

  /// 1 was refused, 2 was accepted, and the connection ended before the responses came: 1 was answered as
  /// accepted when it came again, and the text in it was lost without a word.
  @Test("an input that was refused is refused again after a later one was accepted")
  func refusedAgain() async throws {
    let world = World()
    let first = Peer(world)
    let handle = try await name(first)
    func faulty(_ id: String) -> String {
      request(id, "store/send", #"{"store":"probe","sequence":1,"input":{"type":"eaten"}}"#)
    }
    first.send(faulty("1"), numbered(2, 2))
    try await first.expect(refusal("1", path: "/input/type"), sent("2", revision: 1))
    first.tell(.disconnected)

    let second = Peer(world)
    second.send(attach(handle), faulty("1"), numbered(2, 2))
    try await second.expect(
      answer("0", #"{"stores":{},"sequence":2}"#), refusal("1", path: "/input/type"),
      sent("2", revision: 1, changed: false))
  }
}
