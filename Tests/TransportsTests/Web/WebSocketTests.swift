// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import TestSupport
import Testing
import TransportTestSupport

@testable import Transports

@Suite("WebSockets", .timeLimit(.minutes(15)))
struct WebSocketTests {
  static let listener = ServerAddress.web(host: "127.0.0.1", port: 0)

  @Test(
    "a WebSocket is a connection like others: invalid JSON and large messages get an error each")
  func messages() async throws {
    var limits = ServerLimits()
    limits.frameBytes = 1000
    try await withServer(Self.listener, limits: limits) { server in
      let client = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await client.pings())
      try await client.send("{oh no")
      #expect(try await client.receiveText()?.contains("-32700") == true)
      try await client.send(String(repeating: "x", count: 1001))
      #expect(try await client.receiveLimit() == "frameBytes")
      let padding = String(repeating: " ", count: 1000 - ping.utf8.count)
      try await client.send(ping + padding)
      #expect(try await client.receiveText() == pong)
      try await client.send("[\(ping),\(ping)]")
      #expect(try await client.receiveText() == "[\(pong),\(pong)]")
      try await client.closeInput()
      #expect(try await client.receive() == nil)
      await client.close()
    }
  }

  @Test("frames right after the opening request are read, and fragments are joined")
  func framesAfterRequest() async throws {
    try await withServer(Self.listener) { server in
      let client = try await RawClient(server.addresses[0])
      let middle = ping.utf8.count / 2
      try await client.send(
        Array(RawClient.opening("/?x").utf8)
          + RawClient.frame(1, Array(ping.utf8.prefix(middle)), isLast: false)
          + RawClient.frame(9, [7, 8]) + RawClient.frame(0, Array(ping.utf8.dropFirst(middle))))
      #expect(try await client.receiveResponse().head.hasPrefix("HTTP/1.1 101 "))
      let frames = [try await client.receiveFrame(), try await client.receiveFrame()].compactMap {
        $0
      }
      // The pong may precede the response, because its ping came between fragments.
      #expect(Set(frames.map(\.opcode)) == [1, 10])
      #expect(Set(frames.map(\.text)) == [pong, "\u{7}\u{8}"])
      await client.close()
    }
  }

  @Test("a close frame is returned with its code, after the responses to earlier requests")
  func closing() async throws {
    try await withServer(Self.listener) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      // Frames after a close frame are ignored.
      try await client.send(
        RawClient.frame(1, Array(ping.utf8)) + RawClient.frame(8, [0x0F, 0xA1])
          + RawClient.frame(1, Array(ping.utf8)))
      #expect(try await client.receiveFrame()?.text == pong)
      #expect(try await client.receiveClose() == 4001)
      #expect(try await client.receiveAll() == [])
      await client.close()
    }
  }

  @Test("a close frame without a code is returned without a code")
  func closingWithoutCode() async throws {
    try await withServer(Self.listener) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      try await client.frame(8)
      #expect(try await client.receiveAll() == [0x88, 0])
      await client.close()
    }
  }

  @Test(
    "a violation of the protocol ends the WebSocket with its close code",
    arguments: [
      ([0x81, 1, 0x61], 1002),
      ([0xC1, 0x80, 0, 0, 0, 0], 1002), ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007),
      ([0x01, 0x82, 0, 0, 0, 0, 0xC0, 0x80], 1007), ([0x88, 0x81, 0, 0, 0, 0, 3], 1002),
    ] as [([UInt8], UInt16)])
  func faults(_ bytes: [UInt8], _ code: UInt16) async throws {
    try await withServer(Self.listener) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      try await client.send(RawClient.frame(1, Array(ping.utf8)) + bytes)
      #expect(try await client.receiveFrame()?.text == pong)
      #expect(try await client.receiveClose() == code)
      #expect(try await client.receiveAll() == [])
      await client.close()
    }
  }

  /// pygls sends its JSON in binary messages, and waited forever after a close with 1003.
  @Test("a binary message is accepted like a text message, and the response is a text message")
  func binary() async throws {
    try await withServer(Self.listener) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      try await client.frame(2, Array(ping.utf8))
      let response = try #require(try await client.receiveFrame())
      #expect(response.opcode == 1)
      #expect(response.text == pong)
      // Bytes that are not UTF-8 are an error, and the next message is served.
      try await client.frame(2, [0x22, 0xC0, 0x80, 0x22])
      let error = try #require(try await client.receiveFrame())
      #expect(error.opcode == 1)
      #expect(error.text.contains("\"id\":null,\"error\":{\"code\":-32700"))
      try await client.frame(1, Array(ping.utf8))
      #expect(try await client.receiveFrame()?.text == pong)
      await client.close()
    }
  }

  @Test("a client that sends no request in time is notified in a frame, then closed")
  func firstRequest() async throws {
    let time = TestTime()
    try await withServer(
      Self.listener, timeToFirstRequest: .seconds(10), now: time.now
    ) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      // The time may begin before or after the client has read that its WebSocket is open.
      let frame = try await client.receiveFrame(while: time)
      #expect(frame?.text.contains("timeToFirstRequest") == true)
      #expect(try await client.receiveClose() == 1008)
      await client.close()
    }
  }

  @Test(
    "a client that sends no HTTP request in time is closed", arguments: ["", "GET / HTTP/1.1\r\n"])
  func firstHTTPRequest(_ beginning: String) async throws {
    let time = TestTime()
    try await withServer(
      Self.listener, timeToFirstRequest: .seconds(10), now: time.now
    ) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.send(beginning)
      let other = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await other.pings())
      time.pass(.seconds(11))
      #expect(try await client.receiveAll() == [])
      #expect(try await other.pings())
      await client.close()
      await other.close()
    }
  }

  @Test("a fragmented message has to end in time")
  func frameTime() async throws {
    let time = TestTime()
    var limits = ServerLimits()
    limits.pingTime = nil
    try await withServer(Self.listener, limits: limits, now: time.now) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      try await client.frame(1, Array(ping.utf8))
      #expect(try await client.receiveFrame()?.text == pong)
      try await client.frame(1, [0x7B], isLast: false)
      let frame = try await client.receiveFrame(while: time)
      #expect(frame?.text.contains("frameTime") == true)
      #expect(try await client.receiveClose() == 1008)
      await client.close()
    }
  }

  @Test("a server that ends sends the close code 1001")
  func goingAway() async throws {
    let server = try await Server.start(kinds: [], listeners: [Self.listener])
    let client = try await RawClient(server.addresses[0])
    try await client.open()
    try await client.frame(1, Array(ping.utf8))
    #expect(try await client.receiveFrame()?.text == pong)
    async let stopped: Void = server.stop()
    #expect(try await client.receiveClose() == 1001)
    // On a busy machine, the server may have stopped waiting for this frame.
    try? await client.frame(8, [0x03, 0xE9])
    #expect(try await client.receiveAll() == [])
    await stopped
    await client.close()
  }

  @Test("a silent client is pinged, and closed if it sends no pong")
  func pings() async throws {
    let time = TestTime()
    try await withServer(Self.listener, now: time.now) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      try await client.frame(1, Array(ping.utf8))
      #expect(try await client.receiveFrame()?.text == pong)
      #expect(try await client.receiveFrame(while: time)?.opcode == 9)
      // Only the end arrives.
      #expect(try await client.receiveFrame(while: time) == nil)
      await client.close()
    }
  }

  @Test("a WebSocket requires a token, and is closed with the third wrong one")
  func tokens() async throws {
    let credentials = Credentials(try TokenTable(parsing: "me 0123456789abcdef".utf8))
    try await withServer(Self.listener, credentials: credentials) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      let text = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"token":"wrong"}}"#
      for _ in 1...3 {
        try await client.frame(1, Array(text.utf8))
        #expect(try await client.receiveFrame()?.text.contains("-32016") == true)
      }
      #expect(try await client.receiveClose() == 1008)
      await client.close()
    }
  }

  @Test("the echo endpoint returns text and binary messages, and closes on large ones")
  func echo() async throws {
    var limits = ServerLimits()
    limits.frameBytes = 100
    try await withServer(Self.listener, limits: limits, site: .init(hasEcho: true)) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open("/echo")
      try await client.frame(1, Array("text".utf8))
      #expect(try await client.receiveFrame()! == (1, "text"))
      try await client.frame(2, Array("data".utf8))
      #expect(try await client.receiveFrame()! == (2, "data"))
      try await client.frame(1, Array(repeating: 0x61, count: 101))
      #expect(try await client.receiveClose() == 1009)
      #expect(try await client.receiveAll() == [])
      await client.close()
    }
  }

  @Test("the server does not read from a client that sends pings and reads no pongs")
  func floodOfPings() async throws {
    try await withServer(Self.listener) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.open()
      let many = Array([[UInt8]](repeating: RawClient.frame(9, [1, 2, 3]), count: 50_000).joined())
      async let sent: Void = client.send(many)
      var pongs: [UInt8] = []
      while pongs.count < 50_000 * 5 { pongs += try await client.receive(250_000 - pongs.count) }
      #expect(pongs.starts(with: [0x8A, 3, 1, 2, 3, 0x8A, 3]))
      try await sent
      try await client.frame(1, Array(ping.utf8))
      #expect(try await client.receiveFrame()?.text == pong)
      await client.close()
    }
  }
}

extension RawClient {
  /// Returns the next frame, while the clock advances at each check of the server, once a second.
  fileprivate func receiveFrame(
    while time: TestTime
  ) async throws -> (opcode: UInt8, text: String)? {
    time.step(by: .seconds(25))
    defer { time.step(by: .zero) }
    return try await receiveFrame()
  }
}
