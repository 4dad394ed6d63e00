// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL

/// A relay between clients that connect to an address and a server at another one.
///
/// - Fidelity: bytes are passed on unchanged and in order, also those of WebSockets. The end of a
///   direction is passed on as such.
/// - Bounds: a side that does not read stops the reading from the other side, after a few reads.
public struct SocketRelay: Sendable {
  private let address: ServerAddress
  private let trust: ClientTrust
  private let tap: any RelayTap

  private typealias Stream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// Creates a relay.
  ///
  /// - Parameters:
  ///   - address: The address of the server.
  ///   - trust: The servers to accept over TLS.
  ///   - tap: Receives copies of the bytes.
  public init(to address: ServerAddress, trust: ClientTrust = ClientTrust(), tap: any RelayTap) {
    self.address = address
    self.trust = trust
    self.tap = tap
  }

  /// Listens and relays until the task is cancelled.
  ///
  /// - Parameters:
  ///   - listener: The address for clients, without TLS.
  ///   - listening: Called with the address, with the port that the system has selected.
  /// - Throws: `ClientError.notListening`; an error of the files of the trust.
  public func run(
    at listener: ServerAddress, listening: @Sendable (ServerAddress) -> Void
  ) async throws {
    let context: NIOSSLContext? =
      switch address {
      case .tls, .secureWeb: try trust.context()
      case .tcp, .web, .unix: nil
      }
    let server: NIOAsyncChannel<Stream, Never>
    let open = OpenChannels()
    // Also those of clients that have connected, and whose relaying has not begun.
    defer { open.close() }
    do {
      server = try await Self.bind(listener, open)
    } catch {
      throw ClientError.notListening(listener, reason: ClientConnection.reason(for: error))
    }
    defer { if case .unix(let path) = listener { unlink(path) } }
    listening(listener.with(port: server.channel.localAddress?.port))
    try await server.executeThenClose { clients in
      try await withThrowingDiscardingTaskGroup { group in
        for try await client in clients {
          // One for each client; they end with the group.
          group.addTask { await relay(client, context) }
        }
      }
    }
  }

  private static func bind(
    _ address: ServerAddress, _ open: OpenChannels
  ) async throws -> NIOAsyncChannel<Stream, Never> {
    let accept = { @Sendable (client: any Channel) in
      open.add(client)
      return stream(of: client)
    }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    switch address {
    case .unix(let path):
      return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        // The option of TCP does not exist for Unix sockets.
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .bind(
          unixDomainSocketPath: path, cleanupExistingSocketFile: isAbandoned(path),
          childChannelInitializer: accept)
    case .tcp(let host, let port), .web(let host, let port), .tls(let host, let port),
      .secureWeb(let host, let port):
      return try await bootstrap.bind(host: host, port: port, childChannelInitializer: accept)
    }
  }

  /// Returns true if a socket has a file at a path, and no process listens there any more.
  private static func isAbandoned(_ path: String) async -> Bool {
    let attempt = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    do {
      try await attempt.connect(unixDomainSocketPath: path).get().close()
      return false
    } catch {
      return (error as? IOError)?.errnoCode == ECONNREFUSED
    }
  }

  private static func stream(of channel: any Channel) -> EventLoopFuture<Stream> {
    channel.eventLoop.makeCompletedFuture {
      channel.closeOnExec()
      let stream = try Stream(
        wrappingChannelSynchronously: channel,
        configuration: .init(isOutboundHalfClosureEnabled: true))
      // SwiftNIO traps if a stream is released while its channel is open, for example at a cancellation.
      channel.closeFuture.whenComplete { _ in withExtendedLifetime(stream) {} }
      return stream
    }
  }
}

// MARK: - One connection

extension SocketRelay {
  private func relay(_ client: Stream, _ context: NIOSSLContext?) async {
    let connection = tap.opened()
    do {
      let server = try await connect(context)
      try await client.executeThenClose { fromClient, toClient in
        try await server.executeThenClose { fromServer, toServer in
          try await withThrowingDiscardingTaskGroup { group in
            // A direction must not wait for the other one.
            group.addTask { try await pass(fromClient, .client, to: toServer, connection) }
            group.addTask { try await pass(fromServer, .server, to: toClient, connection) }
          }
        }
      }
    } catch is CancellationError {
      // The relay ends.
    } catch {
      try? await client.channel.close()
      tap.failed(connection, reason: ClientConnection.reason(for: error))
    }
    tap.ended(.client, of: connection, isAbrupt: true)
  }

  /// Passes the bytes of one side on, and then their end.
  private func pass(
    _ bytes: NIOAsyncChannelInboundStream<ByteBuffer>, _ side: RelaySide,
    to other: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ connection: Int
  ) async throws {
    for try await buffer in bytes {
      buffer.withUnsafeReadableBytes { tap.received($0, from: side, on: connection) }
      try await other.write(buffer)
    }
    // Cancellation ends the sequence as well.
    try Task.checkCancellation()
    tap.ended(side, of: connection, isAbrupt: false)
    other.finish()
  }

  private func connect(_ context: NIOSSLContext?) async throws -> Stream {
    do {
      return try await ConnectAttempt.run { bootstrap in
        switch address {
        case .unix(let path):
          try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: Self.stream)
        case .tcp(let host, let port), .tls(let host, let port), .web(let host, let port),
          .secureWeb(let host, let port):
          try await bootstrap.connect(host: host, port: port) { channel in
            ClientConnection.secure(channel, host, context).flatMap { Self.stream(of: channel) }
          }
        }
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      throw ClientError.notConnected(address, reason: ClientConnection.reason(for: error))
    }
  }
}

extension ServerAddress {
  /// Returns the address with another port, if it has one.
  fileprivate func with(port: Int?) -> ServerAddress {
    guard let port else { return self }
    switch self {
    case .tcp(let host, _): return .tcp(host: host, port: port)
    case .tls(let host, _): return .tls(host: host, port: port)
    case .web(let host, _): return .web(host: host, port: port)
    case .secureWeb(let host, _): return .secureWeb(host: host, port: port)
    case .unix: return self
    }
  }
}
