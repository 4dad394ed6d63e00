// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import TransportSupport

// The listeners, and the sockets that they accept.
extension SocketServer {
  /// Opens a listener.
  ///
  /// - Parameters:
  ///   - inherited: The descriptor of its socket; nil to open one.
  ///   - loop: The loop of the listener.
  ///   - group: The loops of the connections.
  /// - Returns: The address with the port that the system has assigned, and the channel.
  /// - Throws: `StartupError`.
  static func listen(
    on address: ServerAddress, _ inherited: CInt?, _ loop: any EventLoop,
    _ group: any EventLoopGroup, _ acceptor: Acceptor, _ gate: NIOLoopBoundBox<AcceptGate>
  ) async throws -> (ServerAddress, any Channel) {
    // SwiftNIO distributes new connections over the loops in turn.
    let listening = ServerBootstrap(group: loop, childGroup: group)
      .serverChannelOption(.backlog, value: backlog)
      // The gate can close after any of them.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          channel.closeOnExec()
          try channel.pipeline.syncOperations.addHandler(AcceptHandler(gate.value))
        }
      }
    func bootstrap(
      isTCP: Bool = true, _ accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> ServerBootstrap {
      listening.childChannelInitializer { socket in
        // Not by options of the bootstrap: if one failed, SwiftNIO would close the socket before this.
        let counted = socket.eventLoop.makeCompletedFuture { try configure(socket, isTCP: isTCP) }
          .flatMap { accept(socket) }
        // A socket that is not counted is closed.
        counted.flatMapError { _ in socket.closeFuture }.hop(to: loop).whenComplete { _ in
          gate.value.countedOrClosed(socket)
        }
        return counted
      }
    }
    func open(
      _ host: String, _ port: Int,
      _ accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> (port: Int, channel: any Channel) {
      let channel = try await bind(tcp: bootstrap(accept), inherited, host, port)
      return (channel.localAddress?.port ?? port, channel)
    }
    func certificate() throws(StartupError) -> ServerCertificate {
      guard let certificate = acceptor.certificate else {
        throw StartupError("cannot listen on \(address): TLS requires a certificate")
      }
      return certificate
    }
    do {
      switch address {
      case .tcp(let host, let port):
        let (port, channel) = try await open(host, port) { acceptor.accept(tcp: $0) }
        return (.tcp(host: host, port: port), channel)
      case .tls(let host, let port):
        let certificate = try certificate()
        let (port, channel) = try await open(host, port) { acceptor.accept(tls: $0, certificate) }
        return (.tls(host: host, port: port), channel)
      case .web(let host, let port):
        let (port, channel) = try await open(host, port) { acceptor.accept(web: $0) }
        return (.web(host: host, port: port), channel)
      case .secureWeb(let host, let port):
        let certificate = try certificate()
        let (port, channel) = try await open(host, port) {
          acceptor.accept(secureWeb: $0, certificate)
        }
        return (.secureWeb(host: host, port: port), channel)
      case .unix(let path):
        if inherited == nil { try UnixSocketFile.removeStale(path) }
        let descriptor = try inherited ?? UnixSocketFile.bind(path)
        let channel =
          try await bootstrap(isTCP: false) { acceptor.accept(unix: $0) }.withBoundSocket(
            descriptor
          ).get()
        // SwiftNIO uses 128 for a socket that it has not created.
        Glibc.listen(descriptor, backlog)
        return (address, channel)
      }
    } catch let error as StartupError {
      throw error
    } catch {
      throw StartupError("cannot listen on \(address): \(reason(for: error))", cause: error)
    }
  }

  /// Sets the options of an accepted socket.
  private static func configure(_ socket: any Channel, isTCP: Bool) throws {
    socket.closeOnExec()
    guard let options = socket.syncOptions else { return }
    try options.setOption(.allowRemoteHalfClosure, value: true)
    // One read, then the loop serves the other connections.
    try options.setOption(.maxMessagesPerRead, value: 1)
    try options.setOption(.recvAllocator, value: ReceiveBuffers())
    // Bytes that wait in the channel can no longer be coalesced.
    try options.setOption(
      .writeBufferWaterMark,
      value: ChannelOptions.Types.WriteBufferWaterMark(low: 4 << 10, high: 16 << 10))
    guard isTCP else { return }
    try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
    // Updates can be coalesced until the kernel has them, so it takes only 16 KiB of unsent bytes.
    try options.setOption(
      .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: 16 << 10)
    // A client that has gone without closing is noticed after 90 seconds: 60 seconds without data, then
    // 3 probes at intervals of 10 seconds.
    try options.setOption(.socketOption(.so_keepalive), value: 1)
    try options.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 60)
    try options.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 10)
    try options.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 3)
  }

  // Number of connections that may wait to be accepted.
  private static let backlog: Int32 = 1024

  private static func bind(
    tcp bootstrap: ServerBootstrap, _ inherited: CInt?, _ host: String, _ port: Int
  ) async throws -> any Channel {
    let bootstrap =
      bootstrap
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    guard let inherited else { return try await bootstrap.bind(host: host, port: port).get() }
    return try await bootstrap.withBoundSocket(inherited).get()
  }

  private static func reason(for error: any Error) -> String {
    (error as? IOError).map { systemMessage($0.errnoCode) } ?? "\(error)"
  }
}
