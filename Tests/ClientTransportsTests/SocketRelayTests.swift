// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ClientTransports

/// Tests that relay between a client and a server of this process.
@Suite("Socket relay", .timeLimit(.minutes(15)))
struct SocketRelayTests {
  /// A tap that keeps what it gets.
  private final class Tap: RelayTap {
    let bytes = Watched<[RelaySide: [UInt8]]>([:])
    let ends = Record<String>()

    let hasOpened = Watched(false)

    func opened() -> Int {
      hasOpened.withLock { $0 = true }
      return 1
    }

    func received(_ bytes: UnsafeRawBufferPointer, from side: RelaySide, on connection: Int) {
      self.bytes.withLock { $0[side, default: []] += bytes }
    }

    func ended(_ side: RelaySide, of connection: Int, isAbrupt: Bool) {
      ends.add("\(side)\(isAbrupt ? " abruptly" : "")")
    }

    func failed(_ connection: Int, reason: String) { ends.add(reason) }
  }

  /// Runs a relay to a server, and calls `body` with its address.
  private func withRelay(
    to server: ServerAddress, at path: String? = nil, _ tap: Tap,
    _ body: @Sendable @escaping (ServerAddress) async throws -> Void
  ) async throws {
    let folder = try TestFolder()
    let path = path ?? folder.file("relay")
    let (addresses, address) = AsyncStream.makeStream(of: ServerAddress.self)
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await SocketRelay(to: server, tap: tap).run(at: .unix(path: path)) {
          address.yield($0)
        }
      }
      group.addTask {
        for await address in addresses { return try await body(address) }
      }
      try await group.next()
      group.cancelAll()
      while (try? await group.next()) != nil {}
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  /// Starts a server that sends everything back, and ends when the client has ended.
  private func echo() async throws -> (any Channel, ServerAddress) {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(BackPressureHandler(), Echo())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return (server, .tcp(host: "127.0.0.1", port: try #require(server.localAddress?.port)))
  }

  private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(data, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      // After everything that was received is sent back.
      if case ChannelEvent.inputClosed = event { context.close(mode: .output, promise: nil) }
    }
  }

  @Test("bytes arrive unchanged in both directions, also many, and both ends are passed on")
  func fidelity() async throws {
    let (server, address) = try await echo()
    let tap = Tap()
    let messages: [[UInt8]] = (0..<2000).map { number in
      Array("\(number) ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: number % 4096)
    }
    try await withRelay(to: address, tap) { relay in
      let client = try await ClientConnection.connect(to: relay)
      async let received = Self.receiveAll(client)
      for message in messages { try await client.send(message) }
      try await client.closeInput()
      let all = try await received
      #expect(all == messages)
      await client.close()
    }
    let sent = [UInt8](messages.map { $0 + [0x0A] }.joined())
    tap.bytes.withLock { #expect($0 == [.client: sent, .server: sent]) }
    #expect(tap.ends.all == ["client", "server", "client abruptly"])
    try await server.close()
  }

  private static func receiveAll(_ client: ClientConnection) async throws -> [[UInt8]] {
    var all: [[UInt8]] = []
    while let messages = try await client.receiveAll() { all += messages }
    return all
  }

  @Test("a client of a server that cannot be reached is disconnected, with a report")
  func unreachable() async throws {
    let tap = Tap()
    let folder = try TestFolder()
    let path = folder.path + "/none"
    try await withRelay(to: .unix(path: path), tap) { relay in
      let client = try await ClientConnection.connect(to: relay)
      #expect(try await client.receive() == nil)
      await client.close()
    }
    #expect(
      tap.ends.all == [
        "unix:\(path) cannot be reached: No such file or directory", "client abruptly",
      ])
  }

  /// SwiftNIO trapped: the stream of the client was released while its channel was open.
  @Test("a relay ends while it connects to its server")
  func endsWhileConnecting() async throws {
    // A listener with a full queue does not accept connections.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    let address = try #require(LoopbackAddress.selectPort(for: listener, queue: 0))
    var waiting: [CInt] = []
    defer { for descriptor in waiting { close(descriptor) } }
    for _ in 1...3 { waiting.append(try Self.beginConnecting(to: address)) }
    let tap = Tap()
    let clients = Record<ClientConnection>()
    try await withRelay(to: .tcp(host: "127.0.0.1", port: address), tap) { relay in
      clients.add(try await ClientConnection.connect(to: relay))
      try await tap.hasOpened.until { $0 }
    }
    #expect(try await clients.all.first?.receive() == nil)
  }

  /// Returns a socket that connects to a port of this machine, or waits for that.
  private static func beginConnecting(to port: Int) throws -> CInt {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    try #require(LoopbackAddress(port: port).connect(descriptor) == 0 || errno == EINPROGRESS)
    return descriptor
  }

  @Test("an address in use is an error")
  func inUse() async throws {
    let (server, address) = try await echo()
    await #expect(throws: ClientError.notListening(address, reason: "Address already in use")) {
      try await SocketRelay(to: address, tap: Tap()).run(at: address) { _ in }
    }
    try await server.close()
  }

  @Test("an abandoned file of a socket is replaced, another file is not")
  func abandonedFile() async throws {
    let (server, address) = try await echo()
    let folder = try TestFolder()
    let path = folder.file("socket")
    #expect(Self.makeAbandonedSocket(path))
    try await withRelay(to: address, at: path, Tap()) { relay in
      let client = try await ClientConnection.connect(to: relay)
      await client.close()
    }
    let file = folder.file("file")
    try Data("text".utf8).write(to: URL(fileURLWithPath: file))
    await #expect(throws: ClientError.self) {
      try await SocketRelay(to: address, tap: Tap()).run(at: .unix(path: file)) { _ in }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("text".utf8))
    try await server.close()
  }
  /// Makes the file of a socket that does not listen, and closes the socket.
  private static func makeAbandonedSocket(_ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
