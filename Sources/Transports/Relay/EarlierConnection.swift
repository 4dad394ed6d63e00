// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Wire

/// A connection whose client has attached to a session of another shard while requests in its
/// former session were running. The responses go to the client through its present connection.
final class EarlierConnection: @unchecked Sendable {
  // @unchecked because `connection` is used on the loop of its shard only.

  private let shard: Shard
  private let loop: any EventLoop
  private let end: RelayEnd
  private var connection: Connection?

  /// - Parameters:
  ///   - connection: The connection; everything that it writes from now on goes to `end`.
  ///   - shard: The shard of the connection.
  ///   - loop: The loop of the shard.
  ///   - end: The present connection, or one that it has replaced.
  init(_ connection: Connection, of shard: Shard, on loop: any EventLoop, for end: RelayEnd) {
    (self.shard, self.loop) = (shard, loop)
    self.end = end
    self.connection = connection
    connection.write(to: self)
  }

  /// Cancels a request.
  func cancel(_ request: RequestID) {
    execute { connection, _ in connection.cancel(requestID: request) }
  }

  /// Ends the connection, because the client has disconnected.
  func disconnect() {
    execute { connection, shard in connection.take(.disconnected, isolation: shard) }
    loop.execute { [self] in connection = nil }
  }

  private func execute(
    _ body: @escaping @Sendable (Connection, isolated Shard) -> Void
  ) {
    loop.execute { [self] in
      shard.assumeIsolated { shard in
        guard let connection else { return }
        shard.turn { body(connection, shard) }
      }
    }
  }
}

extension EarlierConnection: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) { end.post(messages: Array(bytes)) }

  /// False: the few responses wait at the present connection.
  var isCongested: Bool { false }
  var waitingBytes: Int { 0 }

  func yieldToOthers() {
    execute { connection, shard in connection.take(.othersServed, isolation: shard) }
  }

  // The present connection has the client's input, and ends.
  func resumeReading() {}
  func expireLater() {}
  func endOutput() {}
  func awaitInputEnd() {}
  func close() {}
}
