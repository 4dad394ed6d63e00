// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Synchronization
internal import Wire

/// A connection whose client has attached to a session of another shard while requests in its
/// former session were running. The responses go to the client through its present connection.
final class EarlierConnection: @unchecked Sendable {
  // @unchecked because all variables are used on the loop of their shard only.

  private let shard: Shard
  private let loop: any EventLoop
  private var end: RelayEnd
  private var connection: Connection?
  /// Retains this object until the connection has ended, which does not retain its output.
  private var selfUntilEnded: EarlierConnection?
  /// True until the present connection has been notified of the last response.
  private var owesResponses = true
  private let hasExpired = Atomic(false)
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
    selfUntilEnded = self
    connection.write(to: self)
    // Not in the turn that makes it.
    loop.execute { [self] in update() }
  }

  /// True if the requests have ended; on any loop.
  var isOver: Bool { isEnded.load(ordering: .relaxed) }

  /// True once the time of the requests is over; on any loop.
  var isExpired: Bool { hasExpired.load(ordering: .relaxed) }

  /// Cancels a request.
  func cancel(_ request: RequestID) {
    execute { connection, _ in connection.cancel(requestID: request) }
  }

  /// Writes to another end from now on, because the client has attached to a session of one more shard.
  func move(to next: RelayEnd) {
    loop.execute { [self] in
      // The former end passes it on, after the responses that it has got.
      if !owesResponses { end.earlierResponded(self) }
      end = next
      update()
    }
  }

  /// Responds to the open requests with the error -32800, because their time is over.
  func expire() {
    guard !hasExpired.exchange(true, ordering: .relaxed) else { return }
    execute { connection, shard in connection.take(.timeIsUp, isolation: shard) }
    // Responses may wait for commits. If these come too late, the client must know.
    loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) { [self] in
      if connection != nil { close() }
    }
  }

  /// Ends the connection, because the client has disconnected, or nothing is left to be written.
  func disconnect() {
    loop.execute { [self] in
      inTurn { connection, shard in connection.take(.disconnected, isolation: shard) }
      responded()
      (connection, selfUntilEnded) = (nil, nil)
      isEnded.store(true, ordering: .relaxed)
    }
  }

  /// Notifies the present connection after the last response, and ends when nothing is left.
  private func update() {
    guard let connection, !connection.owesResponses, !connection.hasUnsentMessages else { return }
    responded()
    if connection.isIdle { disconnect() }
  }

  private func responded() {
    guard owesResponses else { return }
    owesResponses = false
    end.earlierResponded(self)
  }

  private func execute(
    _ body: @escaping @Sendable (Connection, isolated Shard) -> Void
  ) {
    loop.execute { [self] in
      inTurn(body)
      update()
    }
  }

  private func inTurn(_ body: @escaping @Sendable (Connection, isolated Shard) -> Void) {
    shard.assumeIsolated { shard in
      guard let connection else { return }
      shard.turn { body(connection, shard) }
    }
  }
}

extension EarlierConnection: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    end.post(messages: Array(bytes))
    // Not in the turn that writes.
    loop.execute { [self] in update() }
  }

  /// False: the few responses wait at the present connection.
  var isCongested: Bool { false }
  var waitingBytes: Int { 0 }

  func yieldToOthers() {
    execute { connection, shard in connection.take(.othersServed, isolation: shard) }
  }

  func requestEnded() {
    // Not in the turn that ends it.
    loop.execute { [self] in update() }
  }

  /// Disconnects the client, because messages for it are lost.
  func close() {
    end.post(.cut)
    disconnect()
  }

  // The present connection has the client's input, and ends.
  func resumeReading() {}
  func expireLater() {}
  func endOutput() {}
  func awaitInputEnd() {}
}
