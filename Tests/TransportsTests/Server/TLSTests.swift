// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import ServerCore
import TestSupport
import Testing
import TransportTestSupport

@testable import Transports

@Suite("TLS", .timeLimit(.minutes(15)))
struct TLSTests {
  private let certificates: TestCertificates

  init() throws { certificates = try TestCertificates() }

  /// Returns true if a client gets a response.
  func isServed(_ server: Server, host: String? = nil, _ trust: ClientTrust) async throws -> Bool {
    var address = server.addresses[0]
    switch address {
    case .tls(_, let port): address = .tls(host: host ?? "127.0.0.1", port: port)
    case .secureWeb(_, let port): address = .secureWeb(host: host ?? "127.0.0.1", port: port)
    default: break
    }
    let connection = try await ClientConnection.connect(to: address, trust: trust)
    let isServed = (try? await connection.pings()) ?? false
    await connection.close()
    return isServed
  }

  private static let listener = ServerAddress.tls(host: "127.0.0.1", port: 0)

  @Test("the server serves browsers that use its name or its address")
  func web() async throws {
    try await withServer(
      .secureWeb(host: "127.0.0.1", port: 0), certificate: certificates.server()
    ) { server in
      let byAddress = try await isServed(server, certificates.trust())
      let byName = try await isServed(server, host: "localhost", certificates.trust())
      let withOtherAuthority = try await isServed(server, certificates.trust("other-ca.pem"))
      #expect(byAddress && byName && !withOtherAuthority)
    }
  }

  @Test("the server serves clients that trust its certificate", arguments: Framing.allCases)
  func serving(_ framing: Framing) async throws {
    try await withServer(Self.listener, certificate: certificates.server()) { server in
      guard case .tls(_, let port) = server.addresses[0], port > 0 else {
        Issue.record("\(server.addresses)")
        return
      }
      let client = try await ClientConnection.connect(
        to: server.addresses[0], framing: framing, trust: certificates.trust())
      for _ in 0..<3 { #expect(try await client.pings()) }
      // Larger than a TLS record, and than the kernel's socket buffer.
      let large = ping + String(repeating: " ", count: 900_000)
      try await client.send(large)
      #expect(try await client.receiveText() == pong)
      try await client.closeInput()
      #expect(try await client.receive() == nil)
      await client.close()
      #expect(try await isServed(server, host: "localhost", certificates.trust()))
      #expect(try await !isServed(server, certificates.trust("other-ca.pem")))
      #expect(try await !isServed(server, ClientTrust()))
    }
  }

  @Test("with mutual TLS, the server serves only clients with a certificate of its authority")
  func mutual() async throws {
    try await withServer(Self.listener, certificate: certificates.server(clientAuthority: "ca.pem"))
    {
      server in
      for (client, isRight) in [("client", true), (nil, false), ("other", false), ("client", true)]
      {
        let isServed = try await isServed(server, certificates.trust(client: client))
        #expect(isServed == isRight, "\(client ?? "none")")
      }
    }
  }

  // The client got the error "I/O on a closed channel".
  @Test("a client that cannot begin TLS gets the reason")
  func reasons() async throws {
    func check(_ server: Server, _ reason: String) async throws {
      let client = try await ClientConnection.connect(to: server.addresses[0].withTLS)
      let error = ClientError.noTLS(reason: reason)
      await #expect(throws: error) { try await client.send(Array(ping.utf8)) }
      await #expect(throws: error) { try await client.receive() }
      await client.close()
    }
    try await withServer(Self.listener, certificate: certificates.server()) { server in
      try await check(server, "certificate verify failed")
    }
    try await withServer(.tcp(host: "127.0.0.1", port: 0)) { server in
      try await check(server, "wrong version number")
    }
  }

  @Test(
    "the server supports TLS 1.2 and 1.3, and no older version",
    arguments: [(TLSVersion.tlsv11, false), (.tlsv12, true), (.tlsv13, true)])
  func versions(_ version: TLSVersion, isSpoken: Bool) async throws {
    try await withServer(Self.listener, certificate: certificates.server()) { server in
      guard case .tls(let host, let port) = server.addresses[0] else { return }
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv1
      configuration.maximumTLSVersion = version
      configuration.certificateVerification = .none
      let context = try NIOSSLContext(configuration: configuration)
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLClientHandler(context: context, serverHostname: nil))
          }
        }
        .connect(host: host, port: port).get()
      // True if the write succeeded, after waiting for the handshake.
      let isDone: Bool
      do {
        try await channel.writeAndFlush(ByteBuffer(string: ping + "\n"))
        isDone = true
      } catch {
        isDone = false
      }
      try? await channel.close()
      #expect(isDone == isSpoken)
    }
  }

  @Test("a new certificate applies to new connections, and an invalid one changes nothing")
  func reload() async throws {
    let certificate = try certificates.server()
    let (chain, key) = (certificates.file("server.pem"), certificates.file("server.key"))
    try await withServer(Self.listener, certificate: certificate) { server in
      let old = try await ClientConnection.connect(
        to: server.addresses[0], trust: certificates.trust())
      #expect(try await old.pings())

      try Data("nonsense".utf8).write(to: URL(filePath: certificates.file("server.pem")))
      let error = #expect(throws: StartupError.self) {
        try certificate.reload(certificate: chain, key: key)
      }
      #expect(error?.message.contains("server.pem") == true)
      #expect(try await isServed(server, certificates.trust()))

      // A certificate that does not match the key.
      try replace("server.pem", with: "other.pem")
      #expect(throws: StartupError.self) { try certificate.reload(certificate: chain, key: key) }
      #expect(try await isServed(server, certificates.trust()))

      try replace("server.key", with: "other.key")
      try certificate.reload(certificate: chain, key: key)
      #expect(try await isServed(server, certificates.trust("other-ca.pem")))
      #expect(try await !isServed(server, certificates.trust()))
      #expect(try await old.pings())
      await old.close()
    }
  }

  private func replace(_ name: String, with other: String) throws {
    try Data(contentsOf: URL(filePath: certificates.file(other))).write(
      to: URL(filePath: certificates.file(name)))
  }

  @Test(
    "a client that stops in the handshake is closed, and its place becomes free",
    arguments: [0, 1, 5])
  func stopping(count: Int) async throws {
    let time = TestTime()
    var limits = ServerLimits()
    // At the limit of all connections, the silent client would be closed for another one.
    limits.connectionsPerAddress = 2
    try await withServer(
      Self.listener, limits: limits, timeToFirstRequest: .seconds(10),
      certificate: certificates.server(),
      now: time.now
    ) { server in
      guard case .tls(let host, let port) = server.addresses[0] else { return }
      let other = try await ClientConnection.connect(
        to: server.addresses[0], trust: certificates.trust())
      #expect(try await other.pings())
      let stopping = try await ClientConnection.connect(to: .tcp(host: host, port: port))
      // The start of a record whose length is larger than the bytes that follow.
      try await stopping.send(raw: Array([0x16, 0x03, 0x01, 0x02, 0x00].prefix(count)))
      // A connected socket is not yet accepted. Until it is, there is a place for one more.
      try await eventually("no place is left") { try await !isServed(server, certificates.trust()) }
      time.pass(.seconds(11))
      while (try? await stopping.receive()) != nil {}
      await stopping.close()
      #expect(try await other.pings())
      try await eventually("there is a place") { try await isServed(server, certificates.trust()) }
      await other.close()
    }
  }

  @Test("a client without TLS is not served")
  func plain() async throws {
    try await withServer(Self.listener, certificate: certificates.server()) { server in
      guard case .tls(let host, let port) = server.addresses[0] else { return }
      let plain = try await ClientConnection.connect(to: .tcp(host: host, port: port))
      try await plain.send(ping)
      let response = try? await plain.receiveText()
      #expect(response != pong)
      await plain.close()
      #expect(try await isServed(server, certificates.trust()))
    }
  }

  @Test("errors of limits are sent over TLS, too")
  func limits() async throws {
    var limits = ServerLimits()
    limits.connections = 1
    try await withServer(Self.listener, limits: limits, certificate: certificates.server()) {
      server in
      let first = try await ClientConnection.connect(
        to: server.addresses[0], trust: certificates.trust())
      #expect(try await first.pings())
      let second = try await ClientConnection.connect(
        to: server.addresses[0], trust: certificates.trust())
      #expect(try await second.receiveLimit() == "connections")
      await second.close()
      #expect(try await first.pings())
      await first.close()
    }
  }

  // Its place was free while its socket waited for close_notify, so there were more sockets than places.
  @Test("a silent client in whose place another one comes is closed before it responds")
  func replacing() throws {
    var limits = ServerLimits()
    limits.connections = 1
    let server = EmbeddedShards(1, limits: limits)
    let channel = try server.connect(
      [
        NIOSSLServerHandler(context: certificates.server().context),
        server.handler(0, isRemote: true),
      ],
      to: 0)
    #expect(try server.registry(0).enter(channel) == nil)
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    let client = EmbeddedChannel(loop: server.loops[0])
    try client.pipeline.syncOperations.addHandler(
      NIOSSLClientHandler(
        context: NIOSSLContext(configuration: configuration), serverHostname: nil))
    try client.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    /// Moves the bytes that one end has sent to the other one.
    func move(_ sender: EmbeddedChannel, _ receiver: EmbeddedChannel) throws {
      while let bytes = try sender.readOutbound(as: ByteBuffer.self) {
        try receiver.writeInbound(bytes)
      }
    }
    for _ in 0..<4 {
      try move(client, channel)
      try move(channel, client)
    }
    _ = server.registry(0).makeRoom()
    server.run()
    #expect(!channel.isActive)
    #expect(client.isActive)
    // The last bytes are the server's close_notify.
    try move(channel, client)
    #expect(!client.isActive)
    try server.stop()
  }

  @Test(
    "the error of an unusable file names the file",
    arguments: [
      ("none.pem", "server.key", "none.pem"), ("server.pem", "none.key", "none.key"),
      ("server.key", "server.key", "server.key"), ("server.pem", "other.key", "together"),
    ])
  func unusable(certificate: String, key: String, name: String) throws {
    let error = #expect(throws: StartupError.self) {
      try ServerCertificate(
        certificate: certificates.file(certificate), key: certificates.file(key))
    }
    #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("PRIVATE KEY") == false)
  }

  @Test("a TLS listener requires a certificate")
  func noCertificate() async throws {
    await #expect(throws: StartupError.self) {
      _ = try await Server.start(kinds: [], listeners: [Self.listener])
    }
  }
}

extension ServerAddress {
  fileprivate var withTLS: ServerAddress {
    if case .tcp(let host, let port) = self { .tls(host: host, port: port) } else { self }
  }
}
