// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import TransportSupport

// The listeners, and the sockets that they accept.
extension SocketServer {
  /// Makes an event loop accept the clients of a socket.
  ///
  /// - Parameters:
  ///   - socket: The socket, which the channel closes.
  ///   - accept: Accepts a connection.
  ///   - loop: The loop of the listener.
  ///   - group: The loops of the connections.
  ///   - gate: Limits the sockets that are not counted yet.
  /// - Returns: The address with the port that the system has assigned, and the channel.
  /// - Throws: `StartupError`.
  static func listen(
    on socket: ListeningSocket,
    _ accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
    _ loop: any EventLoop, _ group: any EventLoopGroup, _ gate: NIOLoopBoundBox<AcceptGate>
  ) async throws(StartupError) -> (ServerAddress, any Channel) {
    let isTCP = if case .unix = socket.address { false } else { true }
    // SwiftNIO distributes new connections over the loops in turn.
    let bootstrap = ServerBootstrap(group: loop, childGroup: group)
      // The gate can close after any of them.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptHandler(gate.value))
        }
      }
      .childChannelInitializer { socket in
        // Not by options of the bootstrap: if one failed, SwiftNIO would close the socket before this.
        let counted = socket.eventLoop.makeCompletedFuture { try configure(socket, isTCP: isTCP) }
          .flatMap { accept(socket) }
        // A socket that is not counted is closed.
        counted.flatMapError { _ in socket.closeFuture }.hop(to: loop).whenComplete { _ in
          gate.value.countedOrClosed(socket)
        }
        return counted
      }
    do {
      let channel = try await bootstrap.withBoundSocket(socket.descriptor).get()
      // SwiftNIO uses 128 for a socket that it has not created.
      socket.setBacklog()
      return (socket.address.with(port: channel.localAddress?.port), channel)
    } catch {
      let reason = (error as? IOError).map { systemMessage($0.errnoCode) } ?? "\(error)"
      throw StartupError("cannot listen on \(socket.address): \(reason)", cause: error)
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
}
