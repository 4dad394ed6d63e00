// SPDX-License-Identifier: Apache-2.0

import NIOCore
public import Wire

/// A client's end of a connection to a server: over TCP, TLS, a Unix socket, a WebSocket, or the
/// standard streams of a program that it has started.
///
/// It reads and writes frames and does not parse their messages. Its executor is the event loop of
/// its channel.
///
/// - Order: messages are sent in the order of the calls and received in the order of the stream.
/// - Bounds: about `ClientInbox.bound` bytes wait to be received; then the server is not read any
///   more. `send` returns once the system has taken the message, so a caller that awaits it has at
///   most one message waiting.
/// - Ownership: the caller that opens a connection closes it. A connection that is released without
///   `close` is closed abruptly, and a program that it has started is killed.
public actor ClientConnection {
  /// The framing of messages; see `Wire.Framing`.
  public typealias Framing = Wire.Framing

  /// The framing that is used if none is given: lines.
  public static let defaultFraming = Framing.lines

  /// The longest message that is accepted if no limit is given, in bytes: 64 MiB.
  public static let defaultMaximumMessageBytes = 64 << 20

  let channel: any Channel
  private let writer: FrameWriter
  private var inbox: ClientInbox
  private var isReading = false
  private var isClosed = false
  private var waiting: (waiterID: Int, continuation: CheckedContinuation<Void, Never>)?
  private var lastWaiterID = 0
  private var child: ChildProcess?
  private var errorTail: [UInt8] = []

  /// The event loop of the channel.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    channel.eventLoop.executor.asUnownedSerialExecutor()
  }

  init(channel: any Channel, framing: Framing, maximumMessageBytes: Int) {
    self.channel = channel
    writer = FrameWriter(framing: framing)
    inbox = ClientInbox(framing: framing, maximumMessageBytes: maximumMessageBytes)
  }

  deinit {
    channel.close(promise: nil)
    child?.killWithoutWaiting()
  }

  /// Takes over a program, which ends with the connection.
  func takeOver(_ child: ChildProcess) { self.child = child }
}

// MARK: - Sending

extension ClientConnection {
  /// Sends one message in a frame.
  ///
  /// With the framing of lines, a message that contains `\n` arrives as two. Cancellation closes
  /// the connection, since a partly sent frame cannot be withdrawn.
  ///
  /// - Throws: `ClientError` if nothing can be sent any more, with the reason if it is known;
  ///   `CancellationError`; an error of SwiftNIO otherwise.
  public func send(_ message: [UInt8]) async throws {
    try await send(raw: writer.frame(message))
  }

  /// Sends bytes without a frame; otherwise like `send(_:)`.
  public func send(raw bytes: [UInt8]) async throws {
    let channel = channel
    try await withTaskCancellationHandler {
      do {
        try Task.checkCancellation()
        try await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes))
        // The bytes may have been sent, but the connection is closed now.
        try Task.checkCancellation()
      } catch {
        guard Task.isCancelled else { throw reason(for: error) }
        isClosed = true
        wake()
        throw CancellationError()
      }
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// Returns the reason why nothing can be sent, which the channel does not always know.
  private func reason(for error: any Error) -> any Error {
    if isClosed { return ClientError.closed }
    if case .failed(let cause) = inbox.ending { return cause }
    switch error {
    case ChannelError.ioOnClosedChannel, ChannelError.eof: return ClientError.ended
    case let error as IOError where [brokenPipe, connectionReset].contains(error.errnoCode):
      return ClientError.ended
    default: return error
    }
  }

  /// Ends the server's input. Messages of the server can still be received.
  ///
  /// - Throws: An error of SwiftNIO. A connection that has ended already is not an error.
  public func closeInput() async throws {
    do {
      try await channel.close(mode: .output)
    } catch ChannelError.alreadyClosed, ChannelError.outputClosed {
      // The input has ended already.
    }
  }
}

// MARK: - Receiving

extension ClientConnection {
  /// Receives the next message, without its frame; nil when the server has ended the stream.
  ///
  /// A connection that the server has reset counts as ended. Only one task can receive at a time: a
  /// second call ends the first, which throws `CancellationError`.
  ///
  /// - Throws: `ClientError` for bytes that are not a frame; `CancellationError` when cancelled,
  ///   and the next message is then for the next call.
  public func receive() async throws -> [UInt8]? {
    try await waitForMessage()
    if let message = inbox.popFirst() {
      readMore()
      return message
    }
    return try ended()
  }

  /// Receives all messages that have arrived and were not received, at least one; otherwise like
  /// `receive`.
  ///
  /// - Returns: The messages in their order; nil when the server has ended the stream.
  public func receiveAll() async throws -> [[UInt8]]? {
    try await waitForMessage()
    let messages = inbox.popAll()
    guard messages.isEmpty else {
      readMore()
      return messages
    }
    return try ended()
  }

  /// Waits until there is a message or the stream has ended.
  private func waitForMessage() async throws {
    while inbox.isEmpty, inbox.ending == nil, !isClosed {
      try Task.checkCancellation()
      lastWaiterID += 1
      let waiterID = lastWaiterID
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          waiting?.continuation.resume()
          waiting = (waiterID, continuation)
          if Task.isCancelled { wake() }
        }
      } onCancel: {
        channel.eventLoop.execute {
          self.assumeIsolated { if $0.waiting?.waiterID == waiterID { $0.wake() } }
        }
      }
      if lastWaiterID != waiterID { throw CancellationError() }
    }
  }

  /// Returns nil if the server has ended the stream without an error.
  private func ended<Message>() throws -> Message? {
    if isClosed { throw ClientError.closed }
    if case .failed(let error) = inbox.ending { throw error }
    return nil
  }

  private func wake() {
    waiting?.continuation.resume()
    waiting = nil
  }

  /// Requests a read from the channel, if there is room and no read is pending.
  func readMore() {
    guard !isReading, inbox.wantsMore || isClosed else { return }
    isReading = true
    channel.read()
  }

  fileprivate func bytesArrived(_ buffer: ByteBuffer) {
    // A program that ends must be able to write its remaining output; it is dropped.
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
  /// Closes the connection. Messages that were not received are lost.
  ///
  /// A started program gets the end of its input. It gets SIGTERM after `patience`, and SIGKILL
  /// five seconds later, or one second later if the caller has been cancelled by the time of
  /// SIGTERM. It has been reaped when this returns.
  public func close(patience: Duration) async {
    isClosed = true
    wake()
    if let child {
      self.child = nil
      // Not awaited: a program that does not read would delay it.
      channel.close(mode: .output, promise: nil)
      readMore()
      await child.end(patience: patience)
    }
    // With half closure, NIOSSL treats the server's close_notify as the end of the input only, and
    // waits five seconds for the end of the connection.
    _ = channel.setOption(.allowRemoteHalfClosure, value: false)
    readMore()
    try? await channel.close()
  }

  /// Returns true if the started program has ended by a signal or with an exit code other than 0.
  package func programHasFailed() -> Bool {
    guard let status = child?.status else { return false }
    // It has been reaped, and another process may get its number.
    child = nil
    return status != 0
  }

  /// Closes the connection with a patience of three seconds; see `close(patience:)`.
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

/// Passes the events of a channel to its connection, on their event loop.
final class ClientHandler: ChannelInboundHandler {
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
    let ending: ClientInbox.Ending =
      isReset(error) ? .closed : .failed(ClientError(tls: error) ?? error)
    connection?.assumeIsolated { $0.streamEnded(ending) }
    context.close(promise: nil)
  }

  /// Returns true if the server has reset the connection: it does so when it closes with unread
  /// bytes.
  private func isReset(_ error: any Error) -> Bool {
    (error as? IOError)?.errnoCode == connectionReset
  }
}

/// Collects the standard error of a started program.
final class ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private weak var connection: ClientConnection?

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    connection?.assumeIsolated { $0.errorsArrived(buffer) }
  }
}
