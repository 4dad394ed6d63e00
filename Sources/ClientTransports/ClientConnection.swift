// SPDX-License-Identifier: Apache-2.0

import NIOCore
public import Wire

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
  public typealias Framing = Wire.Framing

  /// The framing of whoever asks for none.
  public static let defaultFraming = Framing.lines

  /// How large a message from the server may be, unless told otherwise.
  public static let defaultMaximumMessageBytes = 64 << 20

  let channel: any Channel
  private let writer: FrameWriter
  private var inbox: ClientInbox
  private var isReading = false
  private var isClosed = false
  private var waiting: (inputID: Int, continuation: CheckedContinuation<Void, Never>)?
  private var lastTicket = 0
  private var child: ChildProcess?
  private var errorTail: [UInt8] = []

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
    child?.killUnreaped()
  }

  /// Takes on a program, which ends with the connection.
  func own(_ child: ChildProcess) { self.child = child }
}

// MARK: - Sending

extension ClientConnection {
  /// Sends one message in a frame of its own.
  ///
  /// In lines, a message with `\n` in it arrives as two. Cancelling closes the connection, since
  /// half a frame cannot be taken back.
  ///
  /// - Throws: `ClientError` where nothing can be sent any more, the reason if there was one; `CancellationError`;
  ///   else what SwiftNIO throws.
  public func send(_ message: [UInt8]) async throws {
    try await send(raw: writer.frame(message))
  }

  /// Sends bytes as they are, in no frame.
  public func send(raw bytes: [UInt8]) async throws {
    let channel = channel
    try await withTaskCancellationHandler {
      do {
        try Task.checkCancellation()
        try await channel.writeAndFlush(channel.allocator.buffer(bytes: bytes))
        // It may have gone out all the same; the connection is closed now.
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

  /// Why nothing can be sent, which the channel does not always know.
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
      let inputID = lastTicket
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          waiting?.continuation.resume()
          waiting = (inputID, continuation)
          if Task.isCancelled { wake() }
        }
      } onCancel: {
        channel.eventLoop.execute {
          self.assumeIsolated { if $0.waiting?.inputID == inputID { $0.wake() } }
        }
      }
      if lastTicket != inputID { throw CancellationError() }
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
  func readMore() {
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

  /// A server that closes while something it has not read is left resets the connection.
  private func isReset(_ error: any Error) -> Bool {
    (error as? IOError)?.errnoCode == connectionReset
  }
}

/// Gathers what a program writes to its standard error.
final class ErrorHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private weak var connection: ClientConnection?

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    connection?.assumeIsolated { $0.errorsArrived(buffer) }
  }
}
