// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore
internal import NIOPosix
package import TransportSupport

// The listeners, and the sockets that they accept.
extension ListeningSocket {
  /// Makes an event loop accept the clients of the socket, which the channel then closes.
  ///
  /// - Parameters:
  ///   - accept: Accepts a connection.
  ///   - loop: The loop of the listener.
  ///   - group: The loops of the connections.
  ///   - gate: Limits the sockets that are not counted yet.
  /// - Returns: The address with the port that the system has assigned, and the channel.
  /// - Throws: `StartupError`.
  package func accept(
    with accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
    on loop: any EventLoop, for group: any EventLoopGroup, _ gate: NIOLoopBoundBox<AcceptGate>
  ) async throws(StartupError) -> (ServerAddress, any Channel) {
    let isTCP = if case .unix = address { false } else { true }
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
        let counted = socket.eventLoop.makeCompletedFuture {
          try Self.configure(socket, isTCP: isTCP)
        }
        .flatMap { accept(socket) }
        // A socket that is not counted is closed.
        counted.flatMapError { _ in socket.closeFuture }.hop(to: loop).whenComplete { _ in
          gate.value.countedOrClosed(socket)
        }
        return counted
      }
    do {
      let channel = try await bootstrap.withBoundSocket(descriptor).get()
      // SwiftNIO uses 128 for a socket that it has not created.
      setBacklog()
      return (address.with(port: channel.localAddress?.port), channel)
    } catch {
      let reason = (error as? IOError).map { systemMessage($0.errnoCode) } ?? "\(error)"
      throw StartupError("cannot listen on \(address): \(reason)", cause: error)
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
