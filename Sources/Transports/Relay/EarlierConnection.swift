// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Synchronization
internal import Wire

/// A connection whose client has attached to a session of another shard while requests in its
/// former session were running, or their responses had yet to be written. These go to the client through its
/// present connection.
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
  /// The number of moves to another end whose earlier messages may be under way.
  private var unfinishedMoves = 0
  /// True if effects ran when the client left. Otherwise only the rest of its last turn is written.
  private let hadRequests: Bool
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
    hadRequests = connection.hasRunningRequests
    selfUntilEnded = self
    connection.write(to: self)
    // Not in the turn that makes it. If the former output serves others for it, the present connection is
    // notified.
    yieldToOthers()
  }

  /// True if it has ended; on any loop.
  var isOver: Bool { isEnded.load(ordering: .relaxed) }

  /// True while it counts among the earlier connections of its client; on any loop.
  var isOpen: Bool { hadRequests && !isOver && !hasExpired.load(ordering: .relaxed) }

  /// Cancels a request.
  func cancel(_ request: RequestID) {
    execute { connection, _ in connection.cancel(requestID: request) }
  }

  /// Writes to another end from now on, because the client has attached to a session of one more shard.
  func move(to next: RelayEnd) {
    loop.execute { [self] in
      let former = end
      (end, owesResponses) = (next, true)
      unfinishedMoves += 1
      // The former end passes on the messages that it has got, and must not be overtaken by the notice that
      // there are no more: the client would be disconnected before them.
      former.afterPassedMessages { [self] in
        loop.execute { [self] in
          unfinishedMoves -= 1
          update()
        }
      }
    }
  }

  /// Responds to the open requests with the error -32800, because their time is over.
  func expire() {
    guard !hasExpired.exchange(true, ordering: .relaxed) else { return }
    execute { connection, shard in connection.take(.timeIsUp, isolation: shard) }
    limitCommits()
  }

  /// Disconnects the client if responses wait for commits for too long: it must know. The writing of large
  /// responses has no limit.
  private func limitCommits() {
    loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) { [self] in
      guard let connection else { return }
      if connection.awaitsCommits { close() } else { limitCommits() }
    }
  }

  /// Responds to the open requests with an error, because the session database does not respond.
  ///
  /// - Parameter ended: Called on the loop of the connection, after the messages for the client.
  func databaseIsGone(isLong: Bool, _ ended: @escaping @Sendable () -> Void) {
    loop.execute { [self] in
      inTurn { connection, shard in
        connection.take(.databaseIsGone(isLong: isLong), isolation: shard)
      }
      update()
      ended()
    }
  }

  /// Ends the connection, because the client has disconnected, or nothing is left to be written.
  func disconnect() {
    loop.execute { [self] in
      inTurn { connection, shard in connection.take(.disconnected, isolation: shard) }
      (connection, selfUntilEnded) = (nil, nil)
      isEnded.store(true, ordering: .relaxed)
      update()
    }
  }

  /// Notifies the present connection after the last response, and ends when nothing is left.
  private func update() {
    guard unfinishedMoves == 0 else { return }
    if let connection, connection.owesResponses || connection.hasUnsentMessages { return }
    if owesResponses {
      owesResponses = false
      end.earlierResponded(self)
    }
    if connection?.isIdle == true { disconnect() }
  }

  private func updateLater() { loop.execute { [self] in update() } }

  private func execute(
    _ body: @escaping @Sendable (Connection, isolated Shard) -> Void
  ) {
    loop.execute { [self] in
      inTurn(body)
      update()
    }
  }

  private func inTurn(_ body: @escaping @Sendable (Connection, isolated Shard) -> Void) {
    guard let connection else { return }
    shard.turnOnLoop(with: connection, body)
  }
}

extension EarlierConnection: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    end.post(messages: Array(bytes))
    // Not in the turn that writes.
    updateLater()
  }

  /// False: the few responses wait at the present connection.
  var isCongested: Bool { false }
  var waitingBytes: Int { 0 }

  func yieldToOthers() {
    execute { connection, shard in connection.take(.othersServed, isolation: shard) }
  }

  // Not in the turn that causes them.
  func requestEnded() { updateLater() }
  func resumeReading() { updateLater() }
  func endOutput() { updateLater() }

  /// Disconnects the client, because messages for it are lost.
  func close() {
    end.post(.cut)
    disconnect()
  }

  // The present connection has the client's input, and ends.
  func expireLater() {}
  func awaitInputEnd() {}
}
