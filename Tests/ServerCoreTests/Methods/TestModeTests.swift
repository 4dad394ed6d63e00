// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import ServerCore

@Suite("test/advanceClock and test/injectFault", .timeLimit(.minutes(15)))
struct TestModeTests {
  static func advance(_ id: String, _ seconds: String) -> String {
    request(id, "test/advanceClock", "{\"by\":\(seconds)}")
  }

  static func inject(
    _ id: String, _ fault: String, operation: String = "set", store: String = "fallible",
    times: String? = nil
  ) -> String {
    let times = times.map { ",\"times\":\($0)" } ?? ""
    return request(
      id, "test/injectFault",
      "{\"store\":\"\(store)\",\"operation\":\"\(operation)\",\"fault\":\(fault)\(times)}")
  }

  static func sleep(_ id: String, _ seconds: Int, settle: Bool = true) -> String {
    ServerCoreTests.send(id, "{\"type\":\"sleep\",\"seconds\":\(seconds)}", settle: settle)
  }

  static func set(_ id: String, _ form: String, _ number: Int) -> String {
    ServerCoreTests.send(
      id, "{\"type\":\"\(form)\",\"number\":\(number)}", to: "fallible", settle: true)
  }

  static let snapshot = "{\"revision\":0,\"state\":{\"number\":0,\"text\":\"\"}}"

  static func world() -> World { World(underTest: .init()) }

  // MARK: The clock

  @Test(
    "timers fire in order, with their effects immediately after them, and the response comes last")
  func advanceClock() async throws {
    let client = TestClient(Self.world())
    client.send(
      subscribe("1"), Self.sleep("2", 3), Self.sleep("3", 1), Self.sleep("4", 9),
      Self.advance("5", "3.0"), ServerCoreTests.set("6", 7))
    try await client.expect(
      response("1", Self.snapshot),
      changed(0, 1, number: 1, applied: "4"), sent("3", revision: 1),
      changed(1, 2, number: 2, applied: "4"), sent("2", revision: 2),
      response("5"),
      changed(2, 3, number: 7, applied: "6"), sent("6", revision: 3))
    // One nanosecond less than the remaining time is not enough.
    client.send(Self.advance("7", "5.999999999"))
    try await client.expect(response("7"))
    client.send(Self.advance("8", "1e-9"))
    try await client.expect(
      changed(3, 4, number: 8, applied: "6"), sent("4", revision: 4), response("8"))
    client.send(Self.advance("9", "0"))
    try await client.expect(response("9"))
  }

  @Test("a notification advances the clock, and in a batch the response is part of the batch")
  func advanceForms() async throws {
    let client = TestClient(Self.world())
    client.send(Self.sleep("1", 1), notification("test/advanceClock", "{\"by\":1}"))
    try await client.expect(sent("1", revision: 1))
    client.send("[\(Self.sleep("2", 1)),\(Self.advance("3", "1"))]")
    try await client.expect("[\(sent("2", revision: 2)),\(response("3"))]")
  }

  @Test("the last request of a client gets its response although the clock still moves")
  func lastRequest() async throws {
    let client = TestClient(Self.world())
    client.send(Self.sleep("1", 9, settle: false), Self.advance("2", "1"))
    client.tell(.inputEnded)
    try await client.expect(sent("1", revision: 0, changed: false), response("2"))
    #expect(client.isClosed)
  }

  // The connection waited without end.
  @Test("an advance of the clock gets an error when its time is over, because work never ends")
  func overdueAdvance() async throws {
    let outside = OutsideWork()
    let client = TestClient(World(underTest: .init(), outside: outside))
    client.send(Self.advance("1", "1"))
    let ended = outside.begin()
    client.tell(.finish)
    client.tell(.timeIsUp)
    try await client.expect(failure("1", -32800))
    #expect(client.isClosed)
    // It responds no second time.
    ended()
    try await client.expect()
  }

  @Test("messages wait until the work of earlier ones is idle, however they are split into chunks")
  func waiting() async throws {
    for together in [true, false] {
      let client = TestClient(Self.world())
      let messages = [
        subscribe("1"), Self.sleep("2", 0, settle: false), ServerCoreTests.set("3", 10),
        Self.sleep("4", 0, settle: false),
      ]
      if together {
        client.send(bytes: client.bytes(of: messages))
      } else {
        for message in messages { client.send(message) }
      }
      try await client.expect(
        response("1", Self.snapshot), sent("2", revision: 0, changed: false),
        changed(0, 1, number: 1, applied: "2"),
        changed(1, 2, number: 10, applied: "3"), sent("3", revision: 2),
        sent("4", revision: 2, changed: false), changed(2, 3, number: 11, applied: "4"))
      #expect(client.wantedAgain > 0)
    }
  }

  @Test("a connection does not read while its own messages wait")
  func wantsBytes() async throws {
    let client = TestClient(Self.world())
    client.send(Self.sleep("1", 0), ServerCoreTests.set("2", 2))
    #expect(!client.wantsBytes)
    try await client.expect(sent("1", revision: 1), sent("2", revision: 2))
    #expect(client.wantsBytes)
    #expect(client.wantedAgain == 1)
  }

  @Test("two connections share the clock, and their messages are handled in order of arrival")
  func twoConnections() async throws {
    let world = Self.world()
    let (one, two) = (TestClient(world), TestClient(world))
    var order: [String] = []
    one.writing = { order.append("one") }
    two.writing = { order.append("two") }
    one.send(Self.sleep("1", 2), Self.advance("2", "1"))
    // The work of the first connection is running, so this message waits until a second has passed.
    two.send(Self.sleep("1", 1), Self.advance("2", "1"))
    #expect(order == [])
    try await two.expect(sent("1", revision: 1), response("2"))
    try await one.expect(response("2"), sent("1", revision: 1))
    #expect(order.first == "one")
  }

  @Test("a connection that closes does not block other connections")
  func disconnected() async throws {
    let world = Self.world()
    var one: TestClient? = TestClient(world)
    let two = TestClient(world)
    one?.send(Self.sleep("1", 5), Self.advance("2", "1"), ServerCoreTests.set("3", 1))
    two.send(ServerCoreTests.set("1", 1))
    one = nil
    try await two.expect(sent("1", revision: 1))
  }

  // MARK: Faults

  static let forms = ["atOnce", "work", "part"]

  private static func frame(
    _ base: Int, _ revision: Int, _ number: Int, applied: String
  ) -> String {
    changed(base, revision, number: number, applied: applied, store: "fallible")
  }

  @Test("an operation fails as often as the fault demands", arguments: forms)
  func fail(form: String) async throws {
    let client = TestClient(Self.world())
    client.send(
      Self.inject("1", "{\"type\":\"fail\"}", times: "2"), Self.set("2", form, 5),
      Self.set("3", form, 6), Self.set("4", form, 7))
    try await client.expect(
      response("1"), sent("2", revision: 1), sent("3", revision: 1, changed: false),
      sent("4", revision: 2))
  }

  @Test("each attempt of an operation meets a fault", arguments: 1...3)
  func retried(failures: Int) async throws {
    // A fault replaced the whole operation, so that it was not tried again.
    let client = TestClient(Self.world())
    client.send(
      subscribe("0", "fallible"), Self.inject("1", "{\"type\":\"fail\"}", times: "\(failures)"),
      Self.set("2", "retried", 5), Self.advance("3", "3"))
    try await client.expect(
      response("0", "{\"revision\":0,\"state\":{\"number\":0}}"), response("1"),
      Self.frame(0, 1, failures < 3 ? 5 : -1, applied: "2"), sent("2", revision: 1), response("3"))
  }

  @Test("an operation is delayed by the virtual clock", arguments: forms)
  func delay(form: String) async throws {
    let client = TestClient(Self.world())
    client.send(
      subscribe("0", "fallible"), Self.inject("1", "{\"type\":\"delay\",\"seconds\":1.5}"),
      Self.set("2", form, 5), Self.advance("3", "1"), Self.set("4", form, 6),
      Self.advance("5", "0.5"))
    try await client.expect(
      response("0", "{\"revision\":0,\"state\":{\"number\":0}}"), response("1"), response("3"),
      Self.frame(0, 1, 6, applied: "4"), sent("4", revision: 1),
      Self.frame(1, 2, 5, applied: "4"), sent("2", revision: 2), response("5"))
  }

  @Test("an operation hangs until it is cancelled", arguments: forms)
  func hang(form: String) async throws {
    let client = TestClient(Self.world())
    client.send(
      Self.inject("1", "{\"type\":\"hang\"}"), Self.set("2", form, 5),
      Self.advance("3", "1000000"), cancel("2"), Self.set("4", form, 6))
    try await client.expect(
      response("1"), response("3"), failure("2", -32800), sent("4", revision: 1))
  }

  @Test("the connection that injected the fault is dropped, and no other", arguments: forms)
  func dropConnection(form: String) async throws {
    let world = Self.world()
    let (one, two) = (TestClient(world), TestClient(world))
    one.send(Self.inject("1", "{\"type\":\"dropConnection\"}"))
    try await one.expect(response("1"))
    two.send(Self.set("1", form, 4))
    try await two.expect(sent("1", revision: 1))
    #expect(!one.isClosed)
    one.send(Self.set("2", form, 5), Self.set("3", form, 6))
    world.loop.runAll()
    #expect(one.isClosed && one.isAbandoned)
    #expect(!one.takeMessages().contains { $0.contains("\"id\":3") })
    two.send(Self.set("2", form, 5))
    try await two.expect(sent("2", revision: 2))
  }

  @Test("faults apply to one session only")
  func ownFaults() async throws {
    let world = Self.world()
    let (one, two) = (TestClient(world), TestClient(world))
    one.send(Self.inject("1", "{\"type\":\"fail\"}"))
    try await one.expect(response("1"))
    two.send(subscribe("1", "fallible"), Self.set("2", "atOnce", 5))
    try await two.expect(
      response("1", "{\"revision\":0,\"state\":{\"number\":0}}"),
      Self.frame(0, 1, 5, applied: "2"), sent("2", revision: 1))
  }

  /// They got no response at all.
  @Test("at the end of the server, messages that wait get a response when their time is over")
  func endsWhileBusy() async throws {
    let outside = OutsideWork()
    let ended = outside.begin()
    let client = TestClient(World(underTest: .init(), outside: outside))
    client.send(request("1", "ping"), ServerCoreTests.set("2", 5))
    client.tell(.finish)
    #expect(client.takeMessages() == [])
    client.tell(.timeIsUp)
    try await client.expect(response("1"), sent("2", revision: 1))
    #expect(client.isClosed)
    ended()
  }

  // MARK: Refusals

  @Test("without --test the methods do not exist")
  func notUnderTest() async throws {
    let client = TestClient()
    client.send(Self.advance("1", "1"), Self.inject("2", "{\"type\":\"hang\"}"))
    try await client.expect(failure("1", -32601), failure("2", -32601))
    client.send(request("3", "test/advanceClock"), request("4", "test/injectFault", "[]"))
    try await client.expect(failure("3", -32601), failure("4", -32601))
  }

  @Test(
    "invalid parameters are refused with their path",
    arguments: [
      ("test/advanceClock", "{}", "/by"),
      ("test/advanceClock", #"{"by":-1}"#, "/by"),
      ("test/advanceClock", #"{"by":"1"}"#, "/by"),
      ("test/advanceClock", #"{"by":null}"#, "/by"),
      ("test/advanceClock", #"{"by":1e10}"#, "/by"),
      ("test/injectFault", "{}", "/store"),
      ("test/injectFault", #"{"store":"probe"}"#, "/operation"),
      ("test/injectFault", #"{"store":"probe","operation":"x"}"#, "/fault"),
      ("test/injectFault", #"{"store":"probe","operation":"x","fault":{}}"#, "/fault/type"),
      (
        "test/injectFault", #"{"store":"probe","operation":"x","fault":{"type":"burn"}}"#,
        "/fault/type"
      ),
      (
        "test/injectFault", #"{"store":"probe","operation":"x","fault":{"type":"delay"}}"#,
        "/fault/seconds"
      ),
      (
        "test/injectFault",
        #"{"store":"probe","operation":"x","fault":{"type":"delay","seconds":-1}}"#,
        "/fault/seconds"
      ),
      (
        "test/injectFault",
        #"{"store":"probe","operation":"x","fault":{"type":"hang"},"times":0}"#, "/times"
      ),
      (
        "test/injectFault",
        #"{"store":"probe","operation":"x","fault":{"type":"hang"},"times":1.5}"#, "/times"
      ),
    ])
  func refused(method: String, params: String, path: String) async throws {
    let client = TestClient(Self.world())
    client.send(request("1", method, params))
    try await client.expect(refusal("1", path: path))
  }

  @Test("faults of unknown and closed stores are refused")
  func noStore() async throws {
    let client = TestClient(Self.world())
    client.send(Self.inject("1", "{\"type\":\"hang\"}", store: "unknown"))
    try await client.expect(failure("1", -32010))
    client.send(
      subscribe("2"), request("3", "store/close", "{\"store\":\"probe\"}"),
      Self.inject("4", "{\"type\":\"hang\"}", store: "probe"))
    let messages = try await client.messages(4)
    #expect(try Message(try #require(messages.last)) == Message(expected: failure("4", -32011)))
  }
}
