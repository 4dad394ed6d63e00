// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Rounds of connections")
struct RoundsOfConnectionsTests {
  /// What happens to flushes on their way to the peers.
  private final class Flushes {
    var log: [String] = []
  }

  /// A peer's socket, which takes its time to be written to.
  private final class Socket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private let name: String
    private let flushes: Flushes
    private let takes: TimeAmount
    /// What the peer had still sent when it went, handed over by the write that notices.
    var unread: ByteBuffer?

    init(_ name: String, _ flushes: Flushes, taking takes: TimeAmount = .zero) {
      (self.name, self.flushes, self.takes) = (name, flushes, takes)
    }

    func flush(context: ChannelHandlerContext) {
      flushes.log.append(name)
      if let bytes = unread {
        unread = nil
        context.fireChannelRead(NIOAny(bytes))
      }
      if takes > .zero { (context.eventLoop as? EmbeddedEventLoop)?.advanceTime(by: takes) }
      context.flush()
    }
  }

  /// A server, one who drives a session of it, one who looks on, and one who asks for something else.
  private struct Play {
    let server = EmbeddedServer([StoreKind("secret") { Secret() }])
    let flushes = Flushes()
    let driver, follower, asker: EmbeddedChannel

    init() throws {
      driver = try server.connect(through: Socket("driver", flushes))
      follower = try server.connect(
        through: Socket("follower", flushes, taking: .microseconds(100)))
      asker = try server.connect(through: Socket("asker", flushes))
      try driver.send(Self.request("session/open", "{}"))
      try driver.send(
        Self.request("store/open", #"{"store":"secret","kind":"secret","config":{}}"#))
      server.loop.run()
      let opened = try #require(driver.lines().first)
      let handle = try #require(
        opened.split(separator: "\"session\":\"").last?.prefix { $0 != "\"" })
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

    /// What the follower has been shown since the last look.
    func shown() throws -> [String] {
      try follower.lines().map { line in
        try #require(line.firstMatch(of: /"value":"([a-z]*)"/).map { String($0.output.1) })
      }
    }

    func pass(_ time: TimeAmount) { server.loop.advanceTime(by: time) }
  }

  @Test("who looks on is sent a stream in rounds, and at once what hides what came before")
  func redaction() throws {
    let play = try Play()
    try play.drive("show")
    play.server.loop.run()
    #expect(try play.shown() == ["swordfish"])
    // Sending that has taken 100 microseconds: the pause is a millisecond.
    try play.drive("change")
    play.server.loop.run()
    #expect(try play.shown() == [])
    try play.drive("hide")
    #expect(try play.shown() == ["marlin", ""])
    try play.drive("show")
    #expect(try play.shown() == [])
    play.pass(.milliseconds(2))
    #expect(try play.shown() == ["swordfish"])
    // Nor does it wait for one who has looked on until a moment ago.
    try play.drive("change")
    try play.follower.send(
      #"{"jsonrpc":"2.0","method":"store/unsubscribe","params":{"store":"secret"}}"#)
    #expect(try play.shown() == [])
    try play.drive("hide")
    #expect(try play.shown() == ["marlin"])
    try play.server.stop()
  }

  @Test("what is hidden has gone out when the answer says so")
  func answers() throws {
    let play = try Play()
    try play.drive("show")
    play.server.loop.run()
    try play.drive("change")
    play.server.loop.run()
    try play.asker.send(Play.request("ping", "{}"))
    play.flushes.log = []
    try play.drive("hide")
    let others = ["asker", "driver"]
    #expect(play.flushes.log.first == "follower")
    #expect(play.flushes.log.dropFirst().sorted() == others, "\(play.flushes.log)")
    try play.server.stop()
  }

  /// A WebSocket's peer that had gone handed over what it had still sent while a round of answers ended;
  /// that ended the round of those who look on, and so the round of answers in itself: a trap.
  @Test("a peer that is found to be gone disturbs no round")
  func gone() throws {
    let play = try Play()
    let socket = Socket("gone", play.flushes)
    let gone = try play.server.connectWebSocket(through: socket)
    let other = try play.server.connect(through: Socket("other", play.flushes))
    let ping = Self.masked(Play.request("ping", "{}"))
    try gone.writeInbound(ping)
    try play.asker.send(Play.request("ping", "{}"))
    try other.send(Play.request("ping", "{}"))
    try play.drive("show")
    socket.unread = ping
    play.server.loop.run()
    #expect(try play.asker.lines().count == 1)
    #expect(try other.lines().count == 1)
    #expect(try play.shown() == ["swordfish"])
    #expect(socket.unread == nil)
    try play.server.stop()
  }

  /// A text frame of a peer; a mask of zeros is one.
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
