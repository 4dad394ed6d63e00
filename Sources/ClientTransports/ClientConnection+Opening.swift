// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
public import Wire

extension ClientConnection {
  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - address: The address that the server listens on.
  ///   - framing: The framing of messages in both directions. Over a WebSocket each message is a
  ///     text frame.
  ///   - maximumMessageBytes: The longest message that is accepted from the server.
  ///   - trust: The servers to accept over TLS.
  /// - Throws: `ClientError.notConnected`, `.unusableFile`, `.unusableFiles`; `CancellationError`. Over
  ///   TLS, the first `send` or `receive` throws if the server is not trusted.
  public static func connect(
    to address: ServerAddress, framing: Framing = defaultFraming,
    maximumMessageBytes: Int = defaultMaximumMessageBytes, trust: ClientTrust = ClientTrust()
  ) async throws -> ClientConnection {
    // Before the connection is made, so that unusable files are reported first.
    let context: NIOSSLContext? =
      switch address {
      case .tls, .secureWeb: try trust.context()
      case .tcp, .web, .unix: nil
      }
    let connection: ClientConnection
    do {
      connection = try await ConnectAttempt.run { bootstrap in
        try await connect(
          bootstrap.channelOption(.autoRead, value: false), to: address, framing,
          maximumMessageBytes, context)
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      throw ClientError.notConnected(address, reason: reason(for: error))
    }
    await connection.readMore()
    return connection
  }

  /// - Parameter context: The configuration of TLS; nil if the address does not use it.
  private static func connect(
    _ bootstrap: sending ClientBootstrap, to address: ServerAddress, _ framing: Framing,
    _ maximumMessageBytes: Int, _ context: NIOSSLContext?
  ) async throws -> ClientConnection {
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
          // `WebSocketClientHandler` turns the messages of the WebSocket into lines.
          attach(to: channel, .lines, maximumMessageBytes)
        }
      }
    }
  }

  /// Adds TLS to a channel, if there is a context.
  static func secure(
    _ channel: any Channel, _ host: String, _ context: NIOSSLContext?
  ) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      guard let context else { return }
      try channel.pipeline.syncOperations.addHandler(ClientTrust.handler(context, host: host))
    }
  }

  /// Returns the reason of an error, in the system's words where it has some.
  package static func reason(for error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      let failures = error.connectionErrors.map(\.error)
      // If a name has several addresses: the failure of one that this machine can reach.
      let unreachable = [EADDRNOTAVAIL, ENETUNREACH, EAFNOSUPPORT]
      let failure = failures.first {
        !unreachable.contains(($0 as? IOError)?.errnoCode ?? 0)
      }
      let cause = failure ?? failures.first ?? error.dnsAError ?? error.dnsAAAAError
      return cause.map { reason(for: $0) } ?? "\(error)"
    case let error as IOError: return systemMessage(error.errnoCode)
    case let error as SocketAddressError.UnknownHost: return error.errorDescription
    case SocketAddressError.unixDomainSocketPathTooLong:
      return "the path is too long for a Unix socket"
    case ChannelError.connectTimeout: return "the server did not respond in time"
    default: return ClientError(tls: error).map { "\($0)" } ?? "\(error)"
    }
  }

  /// The target of a started program's standard error.
  public enum ErrorOutput: Sendable {
    /// The standard error of this process.
    case inherited
    /// A buffer of the last 16 KiB; see `collectedErrorOutput`.
    case collected
  }

  /// Starts a program and connects to its standard input and output.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments; a name without `/` is looked up in `PATH`.
  ///   - framing: The framing of messages in both directions.
  ///   - errorOutput: The target of the program's standard error.
  ///   - maximumMessageBytes: The longest message that is accepted from the program.
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
    await connection.takeOver(child)
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
