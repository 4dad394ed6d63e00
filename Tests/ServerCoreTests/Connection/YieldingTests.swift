// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON
import TestSupport
import Testing

@testable import ServerCore

/// A client whose messages take so long that the loop serves other clients in between. Each reading
/// of the clock, which follows a message, takes 1.5 ms of the 4 ms that a turn may last.
@Suite("Yielding to other clients", .timeLimit(.minutes(15)))
struct YieldingTests {
  private let world = World()
  private let client: TestClient

  init() { client = TestClient(world, now: TestTime(.microseconds(1_500)).now) }

  @Test("messages that arrive in one chunk are handled in several turns, in order")
  func messages() async throws {
    client.send(bytes: client.bytes(of: (1...7).map { request("\($0)", "ping") }))
    try await client.expect(response("1"), response("2"), response("3"))
    #expect(client.isYieldingToOthers && !client.wantsBytes && !client.isIdle)

    let other = TestClient(world)
    other.send(set("1", 1))
    try await other.expect(sent("1", revision: 1))
    client.expectNothing()

    client.continueWork()
    try await client.expect(response("4"), response("5"), response("6"))
    #expect(client.isYieldingToOthers && !client.wantsBytes)
    let before = client.wantedAgain
    client.continueWork()
    try await client.expect(response("7"))
    #expect(!client.isYieldingToOthers && client.wantsBytes && client.isIdle)
    #expect(client.wantedAgain == before + 1)
  }

  @Test("a batch is handled in several turns, and gets one response before later messages")
  func batch() async throws {
    let requests = (1...7).map { set("\($0)", $0) }
    client.send("[\(requests.joined(separator: ","))]", request("8", "ping"))
    client.expectNothing()
    #expect(!client.wantsBytes && !client.isIdle)
    let other = TestClient(world)
    other.send(request("1", "ping"))
    try await other.expect(response("1"))

    client.continueWork()
    client.expectNothing()
    // This chunk was read before the connection stopped reading.
    client.send(request("9", "ping"))
    client.expectNothing()
    client.continueWork()
    let responses = (1...7).map { sent("\($0)", revision: $0) }
    try await client.expect(
      "[\(responses.joined(separator: ","))]", response("8"), response("9"))
    client.continueUntilIdle()
    #expect(!client.isYieldingToOthers && client.wantsBytes && client.isIdle)
  }

  // Other clients were served only after sixteen inputs, however long these took.
  @Test("others are served after an input that takes 5 ms, also on the request template's path")
  func slowInputs() async throws {
    let time = TestTime()
    let world = World(kinds: [StoreKind("slow") { Slow(time: time) }])
    let client = TestClient(world, now: time.now)
    func work(_ microseconds: Int, _ count: Int) {
      let params = #"{"store":"slow","input":{"type":"work","microseconds":\#(microseconds)}}"#
      let requests = (0..<count).map { request("\($0 + 10)", "store/send", params) }
      client.send(bytes: client.bytes(of: requests))
    }
    work(5_000, 20)
    var counts: [Int] = []
    while true {
      counts.append(client.takeMessages().count)
      guard client.isYieldingToOthers else { break }
      client.continueWork()
    }
    #expect(counts.reduce(0, +) == 20 && counts.allSatisfy { $0 <= 2 })
    // Inputs that take less are not interrupted, and the clock is read once in sixteen inputs.
    let before = time.looks
    work(1, 160)
    #expect(!client.isYieldingToOthers && client.takeMessages().count == 160)
    #expect(time.looks - before < 30)
    // The connection notices when inputs take long again.
    work(5_000, 40)
    counts = []
    while client.isYieldingToOthers {
      counts.append(client.takeMessages().count)
      client.continueWork()
    }
    // The duration of an input is known at the second reading of the clock.
    #expect(counts[0] <= 32 && counts.dropFirst().allSatisfy { $0 <= 2 })
  }

  @Test("queued messages are handled after the end of input, before the connection closes")
  func end() async throws {
    client.send(bytes: client.bytes(of: (1...5).map { request("\($0)", "ping") }))
    client.send(
      "[\((6...9).map { request("\($0)", "ping") }.joined(separator: ","))]")
    client.tell(.inputEnded)
    client.tell(.timeIsUp)
    try await client.expect(response("1"), response("2"), response("3"))
    #expect(!client.isClosed)
    client.continueWork()
    try await client.expect(response("4"), response("5"))
    #expect(!client.isClosed)
    client.continueWork()
    try await client.expect("[\((6...9).map { response("\($0)") }.joined(separator: ","))]")
    #expect(client.isClosed && !client.isAbandoned)
  }

  @Test(
    "queued messages of a client that did not read are handled when it reads, in several turns")
  func congestion() async throws {
    client.writing = { [unowned client] in client.isCongested = true }
    client.send(
      "[\((1...4).map { request("\($0)", "ping") }.joined(separator: ","))]",
      request("5", "ping"), request("6", "ping"), request("7", "ping"))
    client.continueWork()
    client.writing = nil
    #expect(client.isCongested)
    client.catchUp()
    client.continueUntilIdle()
    try await client.expect(
      "[\((1...4).map { response("\($0)") }.joined(separator: ","))]", response("5"), response("6"),
      response("7"))
    #expect(client.wantsBytes && client.isIdle)
  }

  @Test("a client that is evicted while others are served does nothing more")
  func evicted() async throws {
    client.send(request("\"o\"", "session/open", #"{"frontend":"page"}"#))
    let opened = try JSONValue(parsing: Array(try await client.messages(1)[0].utf8))
    let handle = try #require(opened.object?["result"]?.object?["session"]?.string)
    client.send("[\((1...6).map { set("\($0)", $0) }.joined(separator: ",")),\(subscribe("7"))]")
    #expect(client.isYieldingToOthers)
    let other = TestClient(world)
    other.send(
      request("1", "session/attach", "{\"session\":\"\(handle)\",\"frontend\":\"page\"}"))
    _ = try await other.messages(1)
    client.continueUntilIdle()
    #expect(client.isClosed && client.takeMessages().last?.contains("evicted") == true)
    client.tell(.disconnected)
    other.send(subscribe("2"), set("3", 100))
    try await other.expect(
      response("2", #"{"revision":3,"state":{"number":3,"text":""}}"#),
      changed(3, 4, number: 100, applied: "3"), sent("3", revision: 4))
  }

  @Test("queued messages of a client that has disconnected are not handled")
  func disconnected() {
    client.send("[\((1...9).map { set("\($0)", $0) }.joined(separator: ","))]", set("10", 10))
    #expect(client.isYieldingToOthers)
    client.tell(.disconnected)
    client.continueWork()
    client.expectNothing()
    #expect(!client.isYieldingToOthers && client.isIdle && !client.isClosed)
  }
}

/// A store whose inputs take a given time.
private struct Slow: StateMachine {
  enum Input: Codable, Sendable {
    case work(microseconds: Int)
  }
  struct State: Codable, Sendable {
    var count = 0
  }

  let time: TestTime
  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    guard case .work(let microseconds) = action else { return }
    time.pass(.microseconds(microseconds))
    state.count += 1
  }
}
