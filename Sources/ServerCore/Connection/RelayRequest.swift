// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireProtocol
internal import Wire

/// A request of a client to attach to a session of another shard, with the properties of its
/// connection.
///
/// The transport creates a connection on the other shard, which carries out the request. If the
/// request succeeds, the transport relays all later bytes of the client to that connection;
/// otherwise the client keeps its connection and its session.
public struct RelayRequest: Sendable {
  /// The number by which the connection of the client finds the request again.
  public let number: UInt32
  /// The request as JSON text.
  let text: [UInt8]
  /// True if the request is in a batch.
  let isInBatch: Bool
  let framing: MessageFraming
  let identity: Identity?
  let wrongTokens: UInt8
  let messageCount: UInt32
  /// The inputs that the client may still send; nil if their rate is not limited.
  let inputs: TokenBucket.State?
  /// Set if another node relays the client.
  let nodeClient: NodeClient?
}

/// The reason why a client could not attach to a session of another shard.
public struct RelayRefusal: Sendable {
  let error: RPCError
  /// The node of the session and the request as JSON text, if another node serves the session.
  var elsewhere: (node: ClusterNode, text: [UInt8])?
}

/// The input that a connection has received and not carried out when another connection on another
/// shard replaces it.
public struct RelayHandover: Sendable {
  /// The reader of the stream, with the beginning of an incomplete frame.
  let frames: FrameReader
  let isFramingKnown: Bool
  /// The frames that wait.
  let backlog: [Connection.Arrival]
  /// The responses to the batch of the request until now.
  let responses: [UInt8]
  /// The requests of the batch that were not carried out, as a JSON array; nil if none are left.
  let rest: [UInt8]?
  /// The events after which the connection has the same life.
  let life: [ConnectionLife.Event]
}

/// The state of a connection whose client attaches to a session of another shard.
final class RelayState {
  /// Called with the result of the request, on the connection that carries it out: nil if it
  /// succeeds.
  var outcome: ((RelayRefusal?) -> Void)?
  /// The batch of the request, on the connection that carries it out, until its rest arrives.
  var batch: Batch?
  /// The delegate of the writer while another connection is about to replace this one.
  var leaving: LeavingDelegate?
}

/// Passes the events of a writer to its connection, and lets the connection leave once everything
/// was sent. So a connection that does not leave has to check nothing.
final class LeavingDelegate: ClientWriterDelegate {
  // because the connection owns this object.
  private unowned let connection: Connection
  /// True after the transport was asked to replace the connection.
  private(set) var hasLeft = false

  init(_ connection: Connection) { self.connection = connection }

  func turnEnded() {
    connection.turnEnded()
    if !hasLeft { hasLeft = connection.leaveIfDone() }
  }

  func writerIsReady(_ shard: isolated Shard) { connection.writerIsReady(shard) }

  func writerFailed(_ failure: ClientWriter.Failure) { connection.writerFailed(failure) }

  func evicted() { connection.evicted() }

  func journalFailed() { connection.journalFailed() }
}
