// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
public import Wire

extension ClientConnection {
  /// Connects to a server that listens.
  ///
  /// - Parameters:
  ///   - address: Where it listens.
  ///   - framing: How messages are framed, in both directions; at a WebSocket each is a text frame.
  ///   - maximumMessageBytes: The longest message that is taken from it.
  ///   - trust: Whom to take for the server, over TLS.
  /// - Throws: `ClientError.notConnected`, `.unusableFile`, `.unusableFiles`. Over TLS, that the server is not whom it
  ///   should be is said by the first `send` or `receive`.
  public static func connect(
    to address: ServerAddress, framing: Framing = defaultFraming,
    maximumMessageBytes: Int = defaultMaximumMessageBytes, trust: ClientTrust = ClientTrust()
  ) async throws -> ClientConnection {
    // Before anybody is asked for anything.
    let context: NIOSSLContext? =
      switch address {
      case .tls, .secureWeb: try trust.context()
      case .tcp, .web, .unix: nil
      }
    let connection: ClientConnection
    do {
      connection = try await connect(to: address, framing, maximumMessageBytes, context)
    } catch {
      throw ClientError.notConnected(address, reason: reason(for: error))
    }
    await connection.readMore()
    return connection
  }

  /// - Parameter context: What TLS begins with, where the address asks for it.
  private static func connect(
    to address: ServerAddress, _ framing: Framing, _ maximumMessageBytes: Int,
    _ context: NIOSSLContext?
  ) async throws -> ClientConnection {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
    switch address {
    case .unix(let path):
      return try await bootstrap.connect(unixDomainSocketPath: path) { channel in
        attach(to: channel, framing, maximumMessageBytes)
      }
    case .tcp(let host, let port), .tls(let host, let port):
      return try await bootstrap.connect(host: host, port: port) { channel in
        secure(channel, host, context).flatMap { attach(to: channel, framing, maximumMessageBytes) }
      }
    case .web(let host, let port), .secureWeb(let host, let port):
      return try await bootstrap.connect(host: host, port: port) { channel in
        secure(channel, host, context).flatMapThrowing {
          try channel.pipeline.syncOperations.addHandler(
            WebSocketClientHandler(
              host: host, port: port, maximumMessageBytes: maximumMessageBytes))
        }.flatMap {
          // What is a frame there is a line here.
          attach(to: channel, .lines, maximumMessageBytes)
        }
      }
    }
  }

  /// Begins TLS, where there is a context for it.
  private static func secure(
    _ channel: any Channel, _ host: String, _ context: NIOSSLContext?
  ) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      guard let context else { return }
      try channel.pipeline.syncOperations.addHandler(ClientTrust.handler(context, host: host))
    }
  }

  /// What the system says.
  private static func reason(for error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      let failures = error.connectionErrors.map(\.error)
      // Where a name has several addresses, what was wrong with one that this machine can reach.
      let unreachable = [EADDRNOTAVAIL, ENETUNREACH, EAFNOSUPPORT]
      let failure = failures.first {
        !unreachable.contains(($0 as? IOError)?.errnoCode ?? 0)
      }
      let cause = failure ?? failures.first ?? error.dnsAError ?? error.dnsAAAAError
      return cause.map { reason(for: $0) } ?? "\(error)"
    case let error as IOError: return systemMessage(error.errnoCode)
    case let error as SocketAddressError.UnknownHost: return error.errorDescription
    case SocketAddressError.unixDomainSocketPathTooLong:
      return "its name is too long for a socket"
    case ChannelError.connectTimeout: return "nobody answers"
    default: return "\(error)"
    }
  }

  /// What becomes of a started program's standard error.
  public enum ErrorOutput: Sendable {
    /// It goes where this program's own goes.
    case inherited
    /// The end of it is kept; see `collectedErrorOutput`.
    case collected
  }

  /// Starts a program and talks to it over its standard input and output.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments; a name without `/` is looked up in `PATH`.
  ///   - framing: How messages are framed, in both directions.
  ///   - errorOutput: Where the program's standard error goes.
  ///   - maximumMessageBytes: The longest message that is taken from it.
  /// - Throws: `ClientError.notStarted`.
  public static func spawn(
    _ command: [String], framing: Framing = defaultFraming, errorOutput: ErrorOutput = .inherited,
    maximumMessageBytes: Int = defaultMaximumMessageBytes
  ) async throws -> ClientConnection {
    let (child, streams) = try await ChildProcess.start(
      command, collectsErrors: errorOutput == .collected)
    do {
      return try await adopt(child, streams, framing, maximumMessageBytes)
    } catch {
      await child.end(patience: .zero)
      throw error
    }
  }

  private static func adopt(
    _ child: ChildProcess, _ streams: ChildProcess.Streams, _ framing: Framing,
    _ maximumMessageBytes: Int
  ) async throws -> ClientConnection {
    let bootstrap = NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
    let connection = try await bootstrap.takingOwnershipOfDescriptors(
      input: streams.output, output: streams.input
    ) { channel in
      ClientConnection.attach(to: channel, framing, maximumMessageBytes)
    }
    await connection.own(child)
    if let errors = streams.errors {
      _ = try await NIOPipeBootstrap(group: connection.channel.eventLoop)
        .takingOwnershipOfDescriptor(input: errors) { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ErrorHandler(connection))
          }
        }
    }
    await connection.readMore()
    return connection
  }

  private static func attach(
    to channel: any Channel, _ framing: Framing, _ maximumMessageBytes: Int
  ) -> EventLoopFuture<ClientConnection> {
    channel.eventLoop.makeCompletedFuture {
      channel.closeOnExec()
      let connection = ClientConnection(
        channel: channel, framing: framing, maximumMessageBytes: maximumMessageBytes)
      try channel.pipeline.syncOperations.addHandler(ClientHandler(connection))
      return connection
    }
  }
}
