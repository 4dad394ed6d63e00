// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Broadcasts and write coalescing of connections")
struct BroadcastFlushTests {
  /// The order of the flushes to the clients.
  private final class Flushes {
    var log: [String] = []
  }

  /// A client's socket, for which a write takes some time.
  private final class Socket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private let name: String
    private let flushes: Flushes
    private let takes: TimeAmount
    /// The last bytes of a client that has disconnected. The write that notices it reads them, over TLS also
    /// the end of the input, and closes the channel.
    var unread: ByteBuffer?

    init(_ name: String, _ flushes: Flushes, taking takes: TimeAmount = .zero) {
      (self.name, self.flushes, self.takes) = (name, flushes, takes)
    }

    func flush(context: ChannelHandlerContext) {
      flushes.log.append(name)
      if let bytes = unread {
        unread = nil
        context.fireChannelRead(NIOAny(bytes))
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        context.close(promise: nil)
      }
      if takes > .zero { (context.eventLoop as? EmbeddedEventLoop)?.advanceTime(by: takes) }
      context.flush()
    }
  }

  /// A server, the driver of a session, a subscriber, and a client that sends requests.
  private struct Scenario {
    let server = EmbeddedServer([StoreKind("secret") { Secret() }])
    let flushes = Flushes()
    let driver, follower, asker: EmbeddedChannel
    /// The handle of the session.
    let handle: String

    /// - Parameter time: The time that a write to the subscriber takes. It also runs the tasks of the loop,
    ///   which is wrong while outputs are written to and events of them wait.
    init(taking time: TimeAmount = .microseconds(100)) throws {
      driver = try server.connect(through: Socket("driver", flushes))
      follower = try server.connect(through: Socket("follower", flushes, taking: time))
      asker = try server.connect(through: Socket("asker", flushes))
      try driver.send(Self.request("session/open", "{}"))
      try driver.send(
        Self.request("store/open", #"{"store":"secret","kind":"secret","config":{}}"#))
      server.loop.run()
      let opened = try #require(driver.lines().first)
      handle = String(
        try #require(opened.split(separator: "\"session\":\"").last?.prefix { $0 != "\"" }))
      try follower.send(
        Self.request("session/attach", "{\"session\":\"\(handle)\",\"revisions\":{}}"))
      try follower.send(Self.request("store/subscribe", #"{"store":"secret"}"#))
      pass(.seconds(1))
      #expect(try follower.lines().count == 2)
    }

    static func request(_ method: String, _ params: String) -> String {
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method)\",\"params\":\(params)}"
    }

    func drive(_ input: String) throws {
      try driver.send(
        Self.request("store/send", "{\"store\":\"secret\",\"input\":{\"type\":\"\(input)\"}}"))
    }

    /// Returns the values that the subscriber has received since the last call.
    func shown() throws -> [String] {
      try follower.lines().map { line in
        try #require(line.firstMatch(of: /"value":"([a-z]*)"/).map { String($0.output.1) })
      }
    }

    func pass(_ time: TimeAmount) { server.loop.advanceTime(by: time) }
  }

  @Test("a subscriber's updates are coalesced, and a redaction is sent immediately")
  func redaction() throws {
    let play = try Scenario()
    try play.drive("show")
    play.server.loop.run()
    #expect(try play.shown() == ["swordfish"])
    // The send took 100 microseconds, so the pause is a millisecond.
    try play.drive("change")
    play.server.loop.run()
    #expect(try play.shown() == [])
    try play.drive("hide")
    #expect(try play.shown() == ["marlin", ""])
    try play.drive("show")
    #expect(try play.shown() == [])
    play.pass(.milliseconds(2))
    #expect(try play.shown() == ["swordfish"])
    // A redaction does not wait for a client that has just unsubscribed either.
    try play.drive("change")
    try play.follower.send(
      #"{"jsonrpc":"2.0","method":"store/unsubscribe","params":{"store":"secret"}}"#)
    #expect(try play.shown() == [])
    try play.drive("hide")
    #expect(try play.shown() == ["marlin"])
    try play.server.stop()
  }

  @Test("a redaction has been sent before the response to its input")
  func redactionBeforeResponse() throws {
    let play = try Scenario()
    try play.drive("show")
    play.server.loop.run()
    try play.drive("change")
    play.server.loop.run()
    try play.asker.send(Scenario.request("ping", "{}"))
    play.flushes.log = []
    try play.drive("hide")
    let others = ["asker", "driver"]
    #expect(play.flushes.log.first == "follower")
    #expect(play.flushes.log.dropFirst().sorted() == others, "\(play.flushes.log)")
    try play.server.stop()
  }

  /// A WebSocket client had disconnected. The flush of responses read its last bytes, which sent
  /// the delayed broadcasts, and these started the flush again: a trap.
  @Test("a client that has disconnected does not disturb a flush")
  func disconnected() throws {
    let play = try Scenario(taking: .zero)
    let socket = Socket("gone", play.flushes)
    let gone = try play.server.connectWebSocket(through: socket)
    let other = try play.server.connect(through: Socket("other", play.flushes))
    let ping = Self.masked(Scenario.request("ping", "{}"))
    try gone.writeInbound(ping)
    try play.asker.send(Scenario.request("ping", "{}"))
    try other.send(Scenario.request("ping", "{}"))
    try play.drive("show")
    socket.unread = ping
    play.server.loop.run()
    #expect(try play.asker.lines().count == 1)
    #expect(try other.lines().count == 1)
    #expect(try play.shown() == ["swordfish"])
    #expect(socket.unread == nil)
    try play.server.stop()
  }

  // Over a WebSocket, it was dropped.
  @Test(
    "the last input of a disconnected client is carried out, after its earlier input",
    arguments: [(1, false), (300, false), (1, true), (300, true), (0, true)])
  func lastInput(pings: Int, isWebSocket: Bool) throws {
    let play = try Scenario(taking: .zero)
    let socket = Socket("gone", play.flushes)
    let gone =
      try isWebSocket
      ? play.server.connectWebSocket(through: socket) : play.server.connect(through: socket)
    func frame(_ text: String) -> ByteBuffer {
      isWebSocket ? Self.masked(text) : ByteBuffer(string: text + "\n")
    }
    func input(_ name: String) -> ByteBuffer {
      frame(
        #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"secret","#
          + #""input":{"type":"\#(name)"}}}"#)
    }
    try gone.writeInbound(
      frame(
        Scenario.request("session/attach", "{\"session\":\"\(play.handle)\",\"revisions\":{}}")))
    play.server.loop.run()
    // The responses are held, or sent at the end of the turn because they are large.
    var bytes = input("show")
    for _ in 0..<pings {
      var ping = frame(Scenario.request("ping", "{}"))
      bytes.writeBuffer(&ping)
    }
    // The pong is sent after the turn.
    if pings == 0 { bytes.writeBytes([0x89, 0x80, 0, 0, 0, 0]) }
    socket.unread = input("change")
    try gone.writeInbound(bytes)
    play.server.loop.run()
    #expect(socket.unread == nil && !gone.isActive)
    _ = try play.driver.lines()
    try play.driver.send(Scenario.request("store/state", #"{"store":"secret"}"#))
    play.server.loop.run()
    #expect(try play.driver.lines().joined().contains("marlin"))
    try play.server.stop()
  }

  /// Returns a WebSocket text frame of a client, with a mask of zeros.
  private static func masked(_ text: String) -> ByteBuffer {
    precondition(text.utf8.count < 126)
    return ByteBuffer(bytes: [0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8))
  }
}

/// Shows a word, or hides it.
private struct Secret: StateMachine {
  enum Input: Codable, Sendable { case show, change, hide }
  struct State: Codable, Sendable { var text = "" }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func reduce(_ state: inout State, _ action: Input) {
    state.text =
      switch action {
      case .show: "swordfish"
      case .change: "marlin"
      case .hide: ""
      }
  }
  func isRedaction(_ action: Input) -> Bool { action == .hide }
}
