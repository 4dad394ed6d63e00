// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import NIOCore
import ServerCore
import Testing
import TransportTestSupport

@testable import Transports

@Suite("Broadcast buffer of many subscribers", .timeLimit(.minutes(15)))
struct BroadcastBufferTests {
  @Test("a broadcast buffer is sent from any byte on, without a copy")
  func slices() {
    let text = SentBuffer(ByteBuffer(string: "one\ntwo\n"))
    #expect(String(buffer: text.bytes(from: 0)) == "one\ntwo\n")
    #expect(String(buffer: text.bytes(from: 4)) == "two\n")
    #expect(text.bytes(from: 8).readableBytes == 0)
    let places = [text.bytes(from: 0), text.bytes(from: 4)].map {
      $0.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    }
    #expect(places[1] - places[0] == 4)
  }

  /// Starts a server, and connects the driver of a session and `count` subscribers.
  private static func start(
    _ count: Int, store: String = "tally"
  ) async throws -> (server: Server, driver: ClientConnection, others: [ClientConnection]) {
    let server = try await Server.start(
      kinds: [StoreKind("tally") { Tally() }, StoreKind("page") { Page() }],
      settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let driver = try await ClientConnection.connect(to: server.addresses[0])
    try await driver.send(request("1", "session/open", "{}"))
    let opened = try #require(await driver.receiveText())
    let handle = try #require(opened.split(separator: "\"session\":\"").last?.prefix { $0 != "\"" })
    try await driver.send(request("2", "store/subscribe", "{\"store\":\"\(store)\"}"))
    _ = try await driver.receiveText()
    var others: [ClientConnection] = []
    for _ in 0..<count {
      let other = try await ClientConnection.connect(to: server.addresses[0])
      try await other.send(
        request("1", "session/attach", "{\"session\":\"\(handle)\",\"revisions\":{}}"))
      _ = try await other.receiveText()
      try await other.send(request("2", "store/subscribe", "{\"store\":\"\(store)\"}"))
      _ = try await other.receiveText()
      others.append(other)
    }
    return (server, driver, others)
  }

  private static let add = request("3", "store/send", #"{"store":"tally","input":{"type":"add"}}"#)

  @Test("all subscribers receive the same updates, turn after turn")
  func sameUpdates() async throws {
    let (server, driver, others) = try await Self.start(20)
    let add = Self.add
    for turn in 0..<20 {
      let lines = Array(repeating: add + "\n", count: 7).joined()
      try await driver.send(raw: Array(lines.utf8))
      for other in others {
        for step in 0..<7 {
          let frame = try await other.receiveChange()
          let base = turn * 7 + step
          #expect(frame.contains("\"base\":\(base),\"revision\":\(base + 1),"))
          #expect(frame.contains("\"value\":\(base + 1)}") && frame.hasSuffix("\"applied\":null}}"))
        }
      }
    }
    for connection in others + [driver] { await connection.close() }
    await server.stop()
  }

  // Other bytes must not overtake a delayed broadcast.
  @Test("a broadcast precedes each response to its subscriber, and the end of the connection")
  func order() async throws {
    let (server, driver, others) = try await Self.start(80)
    for _ in 0..<30 {
      try await driver.send(raw: Array("\(Self.add)\n\(Self.add)\n".utf8))
      for other in others {
        try await other.send(Self.request("4", "store/state", #"{"store":"tally"}"#))
      }
    }
    // An update that no response follows.
    try await driver.send(Self.add)
    var responses = 0
    while responses < 61 {
      if try #require(await driver.receiveText()).contains("\"id\":3") { responses += 1 }
    }
    let stopping = Task { await server.stop() }
    for other in others {
      var revision = 0
      var states = 0
      while let text = try await other.receiveText() {
        if text.contains("\"store/changed\"") {
          #expect(text.contains("\"base\":\(revision),\"revision\":\(revision + 1),"))
          revision += 1
        } else if text.contains("\"id\":4") {
          #expect(text.contains("\"revision\":\(revision),"), "\(text)")
          states += 1
        }
      }
      #expect(revision == 61)
      #expect((1...30).contains(states))
    }
    await stopping.value
    for connection in others + [driver] { await connection.close() }
  }

  // The server may notice only when it sends a delayed broadcast that a client does not read.
  @Test("updates for a slow consumer are coalesced, and it has the last revision in the end")
  func slowConsumer() async throws {
    let (server, driver, others) = try await Self.start(3, store: "page")
    let input = #"{"store":"page","input":{"type":"turn"}}"#
    let turn = Self.request("3", "store/send", input)
    for round in 1...200 {
      try await driver.send(raw: Array(Array(repeating: turn + "\n", count: 8).joined().utf8))
      var responses = 0
      while responses < 8 {
        if try #require(await driver.receiveText()).contains("\"id\":3") { responses += 1 }
      }
      // Only one of the subscribers reads.
      while try await Self.revision(others[0].receiveChange()) < 8 * round {}
    }
    for other in others.dropFirst() {
      var revision = 0
      var frames = 0
      while revision < 1_600 {
        let frame = try await other.receiveChange()
        #expect(frame.contains("\"base\":\(revision),"))
        revision = try Self.revision(frame)
        frames += 1
      }
      #expect(frames < 1_600)
    }
    for connection in others + [driver] { await connection.close() }
    await server.stop()
  }

  private static func revision(_ frame: String) throws -> Int {
    try #require(frame.firstMatch(of: /"revision":(\d+)/).flatMap { Int($0.output.1) })
  }

  private static func request(_ id: String, _ method: String, _ params: String) -> String {
    "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":\(params)}"
  }
}

extension ClientConnection {
  /// Returns the next update, and skips notifications about other clients.
  fileprivate func receiveChange() async throws -> String {
    while true {
      let text = try #require(await receiveText())
      if text.contains("\"store/changed\"") { return text }
    }
  }
}

/// A counter.
private struct Tally: StateMachine {
  enum Input: Codable, Sendable { case add }
  struct State: Codable, Sendable { var count = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Int> { .action(1) }
  func reduce(_ state: inout State, _ action: Int) { state.count += action }
}

/// A page with a number and much text.
private struct Page: StateMachine {
  enum Input: Codable, Sendable { case turn }
  struct State: Codable, Sendable { var number = 0, text = "" }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Int> { .action(state.number + 1) }
  func reduce(_ state: inout State, _ action: Int) {
    state = State(number: action, text: String(repeating: "\(action % 10)", count: 8_000))
  }
}
