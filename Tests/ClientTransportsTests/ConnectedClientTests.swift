// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite("Client of a listening server", .timeLimit(.minutes(15)))
struct ConnectedClientTests {
  /// Runs `body` with a server that sends all bytes back.
  func withEcho(
    unixPath: String? = nil, _ body: (ServerAddress) async throws -> Void
  ) async throws {
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(EchoHandler())
        }
      }
    let channel =
      if let unixPath {
        try await bootstrap.bind(unixDomainSocketPath: unixPath, cleanupExistingSocketFile: true)
          .get()
      } else {
        try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
      }
    let address =
      unixPath.map(ServerAddress.unix)
      ?? .tcp(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
    try await body(address)
    try await channel.close()
  }

  @Test("the client sends and receives over TCP", arguments: Framing.allCases)
  func tcp(_ framing: Framing) async throws {
    try await withEcho { address in
      let connection = try await ClientConnection.connect(to: address, framing: framing)
      try await connection.send("{}")
      #expect(try await connection.receiveText() == "{}")
      try await connection.closeInput()
      #expect(try await connection.receive() == nil)
      await connection.close()
    }
  }

  @Test("the client sends and receives over a Unix socket")
  func unix() async throws {
    try await withEcho(unixPath: "/tmp/statewire-\(UUID())") { address in
      let connection = try await ClientConnection.connect(to: address)
      try await connection.send("1")
      try await connection.send("2")
      #expect(try await connection.receiveText() == "1")
      #expect(try await connection.receiveText() == "2")
      await connection.close()
    }
  }

  /// It waited for the time limit of ten seconds, and with it a program that a signal should end.
  @Test("an attempt to connect ends when it is cancelled")
  func cancelled() async throws {
    let listener = try FullListener()
    let address = ServerAddress.tcp(host: "127.0.0.1", port: listener.port)
    let connecting = Task { try await ClientConnection.connect(to: address) }
    connecting.cancel()
    await #expect(throws: CancellationError.self) { try await connecting.value }
  }

  @Test("the client refuses a message over its limit")
  func tooLarge() async throws {
    try await withEcho { address in
      let connection = try await ClientConnection.connect(to: address, maximumMessageBytes: 8)
      try await connection.send("12345678")
      #expect(try await connection.receiveText() == "12345678")
      try await connection.send("123456789")
      await #expect(throws: ClientError.messageTooLarge) { try await connection.receive() }
      await connection.close()
    }
  }

  @Test("a cancelled send to a server that does not read closes the connection")
  func cancelledSend() async throws {
    let silent = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.autoRead, value: false)
    let server = try await silent.bind(host: "127.0.0.1", port: 0).get()
    let connection = try await ClientConnection.connect(
      to: .tcp(host: "127.0.0.1", port: server.localAddress?.port ?? 0))
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        let large = [UInt8](repeating: 0x31, count: 32 << 20)
        await #expect(throws: CancellationError.self) { try await connection.send(large) }
      }
      await Task.yield()
      group.cancelAll()
    }
    // The client closed the connection, not the server.
    await #expect(throws: ClientError.closed) { try await connection.send("1") }
    await #expect(throws: ClientError.closed) { try await connection.receive() }
    await connection.close()
    try await server.close()
  }

  @Test("the client reports that the server has closed the connection, in a send or a receive")
  func ended() async throws {
    let closing = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.close() }
    let server = try await closing.bind(host: "127.0.0.1", port: 0).get()
    let connection = try await ClientConnection.connect(
      to: .tcp(host: "127.0.0.1", port: server.localAddress?.port ?? 0))
    #expect(try await connection.receive() == nil)
    // The first sends may succeed, before the system reports that the connection has ended.
    await #expect(throws: ClientError.ended) {
      for _ in 1...1_000 { try await connection.send([UInt8](repeating: 0x31, count: 64 << 10)) }
    }
    await #expect(throws: ClientError.ended) { try await connection.send("1") }
    await connection.close()
    try await server.close()
  }

  @Test("the client reports that no server listens")
  func noListener() async {
    let address = ServerAddress.unix(path: "/tmp/statewire-no-server.sock")
    await #expect(
      throws: ClientError.notConnected(address, reason: "No such file or directory")
    ) {
      try await ClientConnection.connect(to: address)
    }
    // A port without a listener.
    let other = ServerAddress.tcp(host: "127.0.0.1", port: 1)
    await #expect(throws: ClientError.notConnected(other, reason: "Connection refused")) {
      try await ClientConnection.connect(to: other)
    }
    let long = ServerAddress.unix(path: "/" + String(repeating: "a", count: 200))
    await #expect(
      throws: ClientError.notConnected(long, reason: "the path is too long for a Unix socket")
    ) {
      try await ClientConnection.connect(to: long)
    }
  }

  @Test("the client reports an unusable file of TLS before it connects")
  func unusableFile() async {
    var trust = ClientTrust()
    trust.authority = "/none"
    await #expect(
      throws: ClientError.unusableFile(path: "/none", reason: "No such file or directory")
    ) {
      try await ClientConnection.connect(to: .tls(host: "127.0.0.1", port: 1), trust: trust)
    }
  }
}

private final class EchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(data, promise: nil)
  }
}

/// A listening socket that accepts no connection, and has no place for one that waits.
private final class FullListener {
  let port: Int
  private var descriptors: [CInt] = []

  init() throws {
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let listener = socket(AF_INET, kind, 0)
    descriptors = [listener]
    port = try #require(LoopbackAddress.selectPort(for: listener, queue: 0))
    // The queue holds one more than the number of `listen`.
    for _ in 0..<3 {
      let client = socket(AF_INET, kind, 0)
      descriptors.append(client)
      LoopbackAddress(port: port).connect(client)
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
