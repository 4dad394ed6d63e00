// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Synchronization
internal import Wire

/// A connection whose client has attached to a session of another shard while requests in its
/// former session were running. The responses go to the client through its present connection.
final class EarlierConnection: @unchecked Sendable {
  // @unchecked because `connection` and `end` are used on the loop of their shard only.

  private let shard: Shard
  private let loop: any EventLoop
  private var end: RelayEnd
  private var connection: Connection?
  private let isEnded = Atomic(false)

  /// The most earlier connections of a client.
  static let maximumCount = 16

  /// - Parameters:
  ///   - connection: The connection; everything that it writes from now on goes to `end`.
  ///   - shard: The shard of the connection.
  ///   - loop: The loop of the shard.
  ///   - end: The present connection.
  init(_ connection: Connection, of shard: Shard, on loop: any EventLoop, for end: RelayEnd) {
    (self.shard, self.loop) = (shard, loop)
    self.end = end
    self.connection = connection
    connection.write(to: self)
  }

  /// True if the requests have ended.
  var isOver: Bool { isEnded.load(ordering: .relaxed) }

  /// Cancels a request.
  func cancel(_ request: RequestID) {
    execute { connection, _ in connection.cancel(requestID: request) }
  }

  /// Writes to another end from now on, because the client has attached to a session of one more shard.
  func move(to next: RelayEnd) {
    loop.execute { [self] in
      end = next
      endIfIdle()
    }
  }

  /// Responds to the open requests with the error -32800, because the client has too many earlier
  /// connections.
  func expire() {
    execute { connection, shard in connection.take(.timeIsUp, isolation: shard) }
    loop.execute { [self] in endIfIdle() }
    // Responses may wait for commits.
    loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) { [self] in disconnect() }
  }

  /// Ends the connection, because the client has disconnected.
  func disconnect() {
    execute { connection, shard in connection.take(.disconnected, isolation: shard) }
    loop.execute { [self] in
      connection = nil
      isEnded.store(true, ordering: .relaxed)
    }
  }

  /// Ends the connection if it has nothing left to write.
  private func endIfIdle() { if connection?.isIdle == true { disconnect() } }

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
  func write(_ bytes: UnsafeRawBufferPointer) {
    end.post(messages: Array(bytes))
    // Not in the turn that writes.
    loop.execute { [self] in endIfIdle() }
  }

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
