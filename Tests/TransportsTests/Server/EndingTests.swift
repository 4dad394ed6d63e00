// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Dispatch
import Foundation
import NIOCore
import NIOPosix
import ServerCore
import TestSupport
import Testing
import TransportTestSupport

@testable import Transports

@Suite("End of a connection", .timeLimit(.minutes(15)))
struct EndingTests {
  private static func start(_ listener: ServerAddress, _ kinds: StoreKind...) async throws -> Server
  {
    try await Server.start(
      kinds: kinds, settings: .patient, listeners: [listener], testing: OutsideWork())
  }

  /// If the client had ended its output, the connection was closed when the server was about to end
  /// it as well, and the client lost the bytes that it had not read.
  @Test(
    "a client that has ended its output receives everything before the end of the connection",
    arguments: [true, false])
  func responsesToTheEnd(isWebSocket: Bool) async throws {
    let server = try await Self.start(
      isWebSocket ? WebSocketTests.listener : .tcp(host: "127.0.0.1", port: 0))
    let other = try await ClientConnection.connect(to: server.addresses[0])
    let batch = "[" + repeatElement(ping, count: 900).joined(separator: ",") + "]"
    // Some responses exceed the socket buffers, but not so far that the server stops reading.
    for count in 1...12 {
      let client = try PlainSocket(server.addresses[0])
      if isWebSocket {
        try client.open()
        let batches = repeatElement(RawClient.frame(1, Array(batch.utf8)), count: count).joined()
        try client.send(batches + RawClient.frame(8, [0x03, 0xE8]))
      } else {
        let framed = "Content-Length: \(batch.utf8.count)\r\n\r\n\(batch)"
        // An invalid header ends the connection, because the start of the next frame is unknown.
        try client.send(repeatElement(framed, count: count).joined() + "nonsense\r\n\r\n")
      }
      client.endOutput()
      // After these pings, the loop has handled the client's input and its end.
      for _ in 1...10 { #expect(try await other.pings()) }
      let bytes = try client.receiveAll()
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.ranges(of: pong).count == 900 * count)
      #expect(isWebSocket ? bytes.suffix(4) == [0x88, 2, 0x03, 0xE8] : text.contains("-32700"))
    }
    await other.close()
    await server.stop()
  }

  /// The write that notices a disconnect reads the client's last bytes. They were handled in the
  /// middle of earlier input.
  @Test("the last input of a disconnected client is not handled in the middle of earlier input")
  func disconnectedInTheMiddle() async throws {
    let gate = DispatchSemaphore(value: 0)
    let (passing, continuation) = AsyncStream.makeStream(of: Void.self)
    let kind = StoreKind("gate") {
      Gate {
        continuation.yield()
        gate.wait()
      }
    }
    let server = try await Self.start(WebSocketTests.listener, kind)
    let holder = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await holder.pings())
    for _ in 1...3 {
      let client = try PlainSocket(server.addresses[0])
      try client.open()
      try await holder.send(
        #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"gate","#
          + #""input":{"type":"passed"}}}"#)
      for await _ in passing { break }
      // The server's loop is blocked until the gate opens, and then reads everything.
      defer { gate.signal() }
      let faults = [[UInt8]](repeating: RawClient.frame(1, [0x78]), count: 5_000).joined()
      try client.send(Array(faults))
      // This closes the socket.
      _ = consume client
    }
    #expect(try await holder.pings())
    await holder.close()
    await server.stop()
  }

  /// Connections without open requests were closed immediately, while requests of other clients in
  /// the same session were still executed and completed.
  @Test("before the server ends, subscribers receive the updates of other clients' open requests")
  func updatesBeforeEnd() async throws {
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let server = try await Server.start(
      kinds: [StoreKind("door") { Door(gate: gate) }], settings: .patient,
      listeners: [.tcp(host: "127.0.0.1", port: 0), WebSocketTests.listener])
    func request(_ method: String, _ params: String) -> String {
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method)\",\"params\":\(params)}"
    }
    let driver = try await ClientConnection.connect(to: server.addresses[0])
    try await driver.send(request("session/open", "{}"))
    let opened = try #require(await driver.receiveText())
    let handle = try #require(opened.split(separator: "\"session\":\"").last?.prefix { $0 != "\"" })
    let subscriber = try await ClientConnection.connect(to: server.addresses[0])
    let attach = "{\"session\":\"\(handle)\",\"revisions\":{\"door\":null}}"
    try await subscriber.send(request("session/attach", attach))
    // The store opens on first use.
    try await driver.send(request("store/state", #"{"store":"door"}"#))
    while try #require(await driver.receiveText()).contains("\"digest\"") == false {}
    _ = try await subscriber.receiveText()
    try await subscriber.send(request("store/subscribe", #"{"store":"door"}"#))
    while try #require(await subscriber.receiveText()).contains("\"isOpen\":false") == false {}
    try await driver.send(
      request("store/send", #"{"store":"door","input":{"type":"knocked"},"settle":true}"#))
    try await driver.send(ping)
    while try await driver.receiveText() != pong {}

    let browser = try PlainSocket(server.addresses[1])
    // The browser's connection has been accepted by then.
    for _ in 1...10 { #expect(try await driver.pings()) }
    let stopping = Task { await server.stop() }
    // A connection without a request is closed when all connections are asked to finish.
    _ = try? browser.receiveAll()
    opening.finish()
    let responses = try await Self.receivedMessages(of: driver)
    // On a busy machine, the server may have cancelled the request after three seconds.
    if !responses.contains(where: { $0.contains("-32800") }) {
      try await Self.expect(responses, shownTo: subscriber)
    }
    await stopping.value
    await driver.close()
    await subscriber.close()
  }

  /// The download of a file ended immediately, and the log did not count it.
  @Test("before the server ends, a client receives the rest of a file")
  func downloadBeforeEnd() async throws {
    let folder = try TestFolder()
    // More than the system takes for a client that does not read.
    let content = [UInt8](repeating: 0x61, count: 8 << 20)
    #expect(FileManager.default.createFile(atPath: folder.file("f.txt"), contents: Data(content)))
    let server = try await Server.start(
      kinds: [], settings: .patient, listeners: [WebSocketTests.listener],
      site: WebSite(folder: folder.path))
    let idle = try PlainSocket(server.addresses[0])
    try idle.send("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try idle.receiveByte()
    let client = try PlainSocket(server.addresses[0])
    try client.send("GET /f.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try client.receiveByte()
    let stopping = Task { await server.stop() }
    // The idle connection is closed when all connections are asked to finish.
    _ = try idle.receiveAll()
    #expect(try client.receiveAll().suffix(content.count) == content[...])
    await stopping.value
  }

  private static func expect(
    _ responses: [String], shownTo subscriber: ClientConnection
  ) async throws {
    #expect(responses.contains { $0.contains("\"revision\":1,\"changed\":true") }, "\(responses)")
    let shown = try await receivedMessages(of: subscriber)
    #expect(shown.contains { $0.contains("\"base\":0,\"revision\":1,") }, "\(shown)")
  }

  /// Returns the messages until the end of the connection.
  private static func receivedMessages(of client: ClientConnection) async throws -> [String] {
    var texts: [String] = []
    while let text = try await client.receiveText() { texts.append(text) }
    return texts
  }

  /// A program that embeds a server may start other programs, which would keep the server's
  /// connections open.
  @Test("programs that the process starts do not inherit the server's sockets")
  func inheritance() async throws {
    let server = try await Self.start(.tcp(host: "127.0.0.1", port: 0))
    guard case .tcp(_, let port) = server.addresses[0] else {
      Issue.record("no port")
      return
    }
    let client = try await ClientConnection.connect(to: server.addresses[0])
    #expect(try await client.pings())
    let sockets = (CInt(0)..<65_536).compactMap { descriptor -> CInt? in
      guard
        LoopbackAddress.port(of: descriptor, getsockname) == port
          || LoopbackAddress.port(of: descriptor, getpeername) == port
      else { return nil }
      return fcntl(descriptor, F_GETFD)
    }
    // The listening socket and both ends of the connection.
    #expect(sockets == [FD_CLOEXEC, FD_CLOEXEC, FD_CLOEXEC])
    await client.close()
    await server.stop()
  }
}

/// Blocks the thread of its server.
private struct Gate: StateMachine {
  let pass: @Sendable () -> Void

  enum Input: Codable, Sendable { case passed }
  struct State: Codable, Sendable { var count = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Never> {
    pass()
    return .none
  }

  func reduce(_ state: inout State, _ action: Never) {}
}

/// Opens some time after a knock.
private struct Door: StateMachine {
  let gate: AsyncStream<Void>

  enum Input: Codable, Sendable { case knocked }
  struct State: Codable, Sendable { var isOpen = false }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Bool> {
    .run("open") { [gate] context in
      for await _ in gate {}
      await context.send(true)
    }
  }

  func reduce(_ state: inout State, _ action: Bool) { state.isOpen = action }
}
