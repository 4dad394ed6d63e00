// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
public import ServerCore

/// A client's end of a connection to a server: over TCP, a Unix socket, or the standard streams of
/// a program that it has started.
///
/// It knows frames and nothing of what is in them. It lives on the event loop of its channel.
///
/// - Order: messages are sent in the order of the calls and received in the order of the stream.
/// - Bounds: about `ClientInbox.bound` bytes wait to be received, then the server is no longer read
///   from. `send` returns once the system has taken the message, so whoever awaits it can have no
///   more than one waiting.
/// - Ownership: whoever opens one closes it. One that is merely dropped is closed abruptly, and a
///   program it has started is killed.
public actor ClientConnection {
  public typealias Framing = ServerCore.Framing

  /// The framing of whoever asks for none.
  public static let defaultFraming = Framing.lines

  /// How large a message from the server may be, unless told otherwise.
  public static let defaultMaximumMessageBytes = 64 << 20

  private let channel: any Channel
  private let writer: FrameWriter
  private var inbox: ClientInbox
  private var isReading = false
  private var isClosed = false
  private var waiting: (ticket: Int, continuation: CheckedContinuation<Void, Never>)?
  private var lastTicket = 0
  private var child: ChildProcess?
  private var errorTail: [UInt8] = []

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    channel.eventLoop.executor.asUnownedSerialExecutor()
  }

  fileprivate init(channel: any Channel, framing: Framing, maximumMessageBytes: Int) {
    self.channel = channel
    writer = FrameWriter(framing: framing)
    inbox = ClientInbox(framing: framing, maximumMessageBytes: maximumMessageBytes)
  }

  deinit {
    channel.close(promise: nil)
    child?.killUnreaped()
  }
}

// MARK: - Opening

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

  private func own(_ child: ChildProcess) { self.child = child }
}

// MARK: - Sending

extension ClientConnection {
  /// Sends one message in a frame of its own.
  ///
  /// In lines, a message with `\n` in it arrives as two. Cancelling closes the connection, since
  /// half a frame cannot be taken back.
  public func send(_ message: [UInt8]) async throws {
    try await send(raw: writer.frame(message))
  }

  /// Sends bytes as they are, in no frame.
  public func send(raw bytes: [UInt8]) async throws {
    let channel = channel
    try await withTaskCancellationHandler {
      try Task.checkCancellation()
      do {
        try await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes))
      } catch {
        try Task.checkCancellation()
        throw error
      }
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// Tells the server that nothing more will be sent; what it sends can still be received.
  public func closeInput() async throws {
    do {
      try await channel.close(mode: .output)
    } catch ChannelError.alreadyClosed, ChannelError.outputClosed {
      // That is what was asked for.
    }
  }
}

// MARK: - Receiving

extension ClientConnection {
  /// The next message, without its frame; nil when the server has ended the stream.
  ///
  /// A connection that the server has reset has ended too. One task receives at a time; a second
  /// one takes the place of the first, which is told that it was cancelled.
  ///
  /// - Throws: `ClientError` for what cannot be read, `CancellationError` when cancelled; the
  ///   message that comes next is then for the next call.
  public func receive() async throws -> [UInt8]? {
    try await arrival()
    if let message = inbox.popFirst() {
      readMore()
      return message
    }
    return try ended()
  }

  /// All messages that have come and were not received, at least one; otherwise like `receive`.
  public func receiveAll() async throws -> [[UInt8]]? {
    try await arrival()
    let messages = inbox.popAll()
    guard messages.isEmpty else {
      readMore()
      return messages
    }
    return try ended()
  }

  /// Waits until there is a message, or nothing more comes.
  private func arrival() async throws {
    while inbox.isEmpty, inbox.ending == nil, !isClosed {
      try Task.checkCancellation()
      lastTicket += 1
      let ticket = lastTicket
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          waiting?.continuation.resume()
          waiting = (ticket, continuation)
          if Task.isCancelled { wake() }
        }
      } onCancel: {
        channel.eventLoop.execute {
          self.assumeIsolated { if $0.waiting?.ticket == ticket { $0.wake() } }
        }
      }
      if lastTicket != ticket { throw CancellationError() }
    }
  }

  /// Nil, if the server has ended the stream in the right way.
  private func ended<Message>() throws -> Message? {
    if isClosed { throw ClientError.closed }
    if case .failed(let error) = inbox.ending { throw error }
    return nil
  }

  private func wake() {
    waiting?.continuation.resume()
    waiting = nil
  }

  /// Asks the channel for more, if there is room and it has not been asked yet.
  fileprivate func readMore() {
    guard !isReading, inbox.wantsMore || isClosed else { return }
    isReading = true
    channel.read()
  }

  fileprivate func bytesArrived(_ buffer: ByteBuffer) {
    // While a started program ends, it must be able to get rid of what it still writes.
    if isClosed { return }
    buffer.withUnsafeReadableBytes { inbox.bytesArrived($0) }
    wake()
  }

  fileprivate func readCompleted() {
    isReading = false
    readMore()
  }

  fileprivate func streamEnded(_ ending: ClientInbox.Ending) {
    inbox.streamEnded(ending)
    wake()
  }
}

// MARK: - Closing

extension ClientConnection {
  /// Ends the connection. What has not been received is lost.
  ///
  /// A program that was started is asked to end by the end of its input, after `patience` by
  /// SIGTERM, and after five more seconds it is killed; it has been reaped when this returns.
  /// Where the caller has been cancelled by the time of SIGTERM, it has one second and not five.
  public func close(patience: Duration) async {
    isClosed = true
    wake()
    if let child {
      self.child = nil
      // Not awaited: a program that reads nothing would hold it up.
      channel.close(mode: .output, promise: nil)
      readMore()
      await child.end(patience: patience)
    }
    // With half closure, NIOSSL takes the server's answer to the closing for the end of its input only,
    // and waits five seconds for what does not come.
    _ = channel.setOption(.allowRemoteHalfClosure, value: false)
    readMore()
    try? await channel.close()
  }

  /// Ends the connection, with the usual patience.
  public func close() async {
    await close(patience: .seconds(3))
  }

  /// The last 16 KiB that a started program has written to its standard error, if it is collected.
  public var collectedErrorOutput: [UInt8] { errorTail }

  fileprivate func errorsArrived(_ buffer: ByteBuffer) {
    errorTail += buffer.readableBytesView
    errorTail.removeFirst(max(0, errorTail.count - 16 * 1024))
  }
}

// MARK: - Handlers

/// Hands what happens on a channel to its connection, on the event loop that both live on.
private final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// Weak, since the connection holds the channel.
  private weak var connection: ClientConnection?

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    connection?.assumeIsolated { $0.bytesArrived(buffer) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    connection?.assumeIsolated { $0.readCompleted() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed = event else { return }
    connection?.assumeIsolated { $0.streamEnded(.closed) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    connection?.assumeIsolated { $0.streamEnded(.closed) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let ending: ClientInbox.Ending = isReset(error) ? .closed : .failed(error)
    connection?.assumeIsolated { $0.streamEnded(ending) }
    context.close(promise: nil)
  }

  /// A server that closes while something it has not read is left resets the connection.
  private func isReset(_ error: any Error) -> Bool {
    (error as? IOError)?.errnoCode == connectionReset
  }
}

private final class ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private weak var connection: ClientConnection?

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    connection?.assumeIsolated { $0.errorsArrived(buffer) }
  }
}
