// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
import ServerCore
import TestSupport
import Testing
import TransportTestSupport
import Transports

@testable import Admin

@Suite("Admin interface beyond this machine", .timeLimit(.minutes(15)))
struct AdminAccessTests {
  private let certificates: TestCertificates

  init() throws { certificates = try TestCertificates() }

  @Test("needs TLS, and a token in each request")
  func access() async throws {
    let access = AdminAccess(
      credentials: Credentials(try TokenTable(parsing: "operator abcdefghijklmnop".utf8)),
      certificate: try certificates.server())
    let admin = try await AdminInterface.start(
      host: "0.0.0.0", port: 0, ServerStatus(), access: access)
    guard case .tcp(_, let port) = admin.address else { return }
    func status(_ path: String, _ fields: String...) async throws -> String {
      let fields = (["Host: host.example"] + fields).joined(separator: "\r\n")
      let response = try await get("GET \(path) HTTP/1.1\r\n\(fields)\r\n\r\n", port)
      return String(response.prefix { $0 != "\r\n" })
    }
    for path in ["/healthz", "/readyz", "/metrics", "/"] {
      #expect(try await status(path) == "HTTP/1.1 401 Unauthorized")
    }
    for field in [
      "Bearer", "Bearer abcdefghijklmnoq", "Basic abcdefghijklmnop", "abcdefghijklmnop",
      "Bearer abcdefghijklmnop x",
    ] {
      #expect(
        try await status("/metrics", "Authorization: \(field)") == "HTTP/1.1 401 Unauthorized")
    }
    #expect(
      try await status(
        "/metrics", "Authorization: Bearer abcdefghijklmnop",
        "Authorization: Bearer abcdefghijklmnop") == "HTTP/1.1 401 Unauthorized")
    for field in [
      "Authorization: Bearer abcdefghijklmnop", "authorization: bearer abcdefghijklmnop",
    ] {
      #expect(try await status("/metrics", field) == "HTTP/1.1 200 OK")
    }
    // Replaced tokens are valid immediately.
    access.credentials.replace(with: try TokenTable(parsing: "operator ponmlkjihgfedcba".utf8))
    #expect(
      try await status("/metrics", "Authorization: Bearer abcdefghijklmnop")
        == "HTTP/1.1 401 Unauthorized")
    // Without TLS there is no response.
    let socket = try PlainSocket(.tcp(host: "127.0.0.1", port: port))
    try socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(!String(decoding: try socket.receiveAll(), as: UTF8.self).contains("HTTP/1.1"))
    await admin.stop()
  }

  @Test("clients without a token do not keep an operator out, however many of them connect")
  func idleClients() async throws {
    let access = AdminAccess(
      credentials: Credentials(try TokenTable(parsing: "operator abcdefghijklmnop".utf8)),
      certificate: try certificates.server())
    let admin = try await AdminInterface.start(
      host: "127.0.0.1", port: 0, ServerStatus(), access: access)
    guard case .tcp(_, let port) = admin.address else { return }
    let group = MultiThreadedEventLoopGroup.singleton
    var idle: [any Channel] = []
    for index in 0..<3 * AdminInterface.maximumConnections {
      let client = ClientBootstrap(group: group).channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          // The beginning of a handshake: to end it, the server would wait for the client.
          guard index.isMultiple(of: 2) else { return }
          try channel.pipeline.syncOperations.addHandler(HandshakeStart())
        }
      }
      idle.append(try await client.connect(host: "127.0.0.1", port: port).get())
    }
    let response = try await get(
      "GET /readyz HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer abcdefghijklmnop\r\n\r\n", port)
    #expect(response.hasPrefix("HTTP/1.1 503 ") && response.hasSuffix("starting\n"))
    try await idle[0].closeFuture.get()
    for channel in idle { try? await channel.close() }
    await admin.stop()
  }

  @Test("on a loopback address tokens need no TLS, and the name of this machine is checked still")
  func withoutTLS() async throws {
    let access = AdminAccess(
      credentials: Credentials(try TokenTable(parsing: "operator abcdefghijklmnop".utf8)),
      certificate: nil)
    await #expect(throws: StartupError.self) {
      _ = try await AdminInterface.start(host: "0.0.0.0", port: 0, ServerStatus(), access: access)
    }
    let admin = try await AdminInterface.start(
      host: "127.0.0.1", port: 0, ServerStatus(), access: access,
      console: ["index.html": Array("<p>".utf8)])
    func status(_ path: String, _ fields: String...) throws -> String {
      let socket = try PlainSocket(admin.address)
      try socket.send("GET \(path) HTTP/1.1\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n")
      return String(decoding: try socket.receiveAll(), as: UTF8.self).split(separator: " ")[1]
        .description
    }
    let token = "Authorization: Bearer abcdefghijklmnop"
    #expect(try status("/console/", "Host: localhost") == "200")
    #expect(try status("/console/", "Host: host.example") == "403")
    #expect(try status("/console/api/server", "Host: localhost") == "401")
    #expect(try status("/console/api/server", "Host: host.example", token) == "403")
    // The server is starting.
    #expect(try status("/console/api/server", "Host: localhost", token) == "503")
    #expect(try status("/metrics", "Host: localhost") == "401")
    #expect(try status("/metrics", "Host: localhost", token) == "200")
    await admin.stop()
  }

  /// Returns the response to a request over TLS.
  private func get(_ request: String, _ port: Int) async throws -> String {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(certificates.file("ca.pem"))
    let context = try NIOSSLContext(configuration: configuration)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            try NIOSSLClientHandler(context: context, serverHostname: nil))
          return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: request))
      var response = ByteBuffer()
      for try await var part in inbound { response.writeBuffer(&part) }
      return String(buffer: response)
    }
  }
}

/// Sends the first bytes of a TLS handshake.
private final class HandshakeStart: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(NIOAny(ByteBuffer(bytes: [0x16, 3, 1, 1])), promise: nil)
  }
}
