// SPDX-License-Identifier: Apache-2.0

internal import Delivery
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// A connection to one client: it receives bytes and carries out requests in order.
///
/// A connection does not use sockets. It takes events from a transport, in turns of the shard's
/// loop. Its `writer` delivers messages to the client. Invalid bytes of the client lead to an error
/// response or to the end of its connection, never to a trap.
public final class Connection {
  let settings: ServerSettings
  let common: SharedCaches
  // because a shard outlives its connections.
  unowned let shard: Shard
  let turnOutcome: TurnOutcome
  // because the output owns the connection, and `disconnected` is its last event.
  unowned var output: any ConnectionOutput
  let writer: ClientWriter
  /// The client's place in a session: in a new session of its own, or in the one that it has opened
  /// or attached to.
  var participant: Participant { didSet { writer.session = participant.session } }

  /// The identity of the client; nil until it sends a valid token, and on a server without tokens.
  public var identity: Identity? { writer.owner.map { Identity($0) } }
  let inputs: TokenBucket?
  /// The templates of the client's last inputs.
  var templates = RequestTemplates()
  /// True if the input of the current message is sampled; nil if that was not decided.
  var isNextSampled: Bool?
  var wrongTokens: UInt8 = 0
  /// Number of complete messages that were processed, modulo 2^32; the transport detects idle
  /// clients by it.
  public internal(set) var messageCount: UInt32 = 0
  /// The number of messages up to the next one whose input is sampled; 0 if it is not known yet.
  var inputsToSample = 0
  var frames: FrameReader
  /// True once the framing is known: from the start for a WebSocket, after the first byte of a
  /// stream.
  var isFramingKnown: Bool
  /// The requests whose response a function gives later; see `MethodResult.deferred`.
  var deferred: [DeferredRequest] = []
  /// Number of requests that were offloaded, modulo 2^32.
  var offloadCount: UInt32 = 0

  /// The requests whose effects have not ended.
  var running = RunningRequests()
  // The frames that arrived while the client did not read or other clients were served; at most
  // those of one received chunk.
  var backlog: [Arrival] = []
  /// The rest of a batch that comes before `backlog`.
  var waitingBatch: WaitingBatch?
  /// The offloaded request that the client's next messages wait for.
  var offloaded: OffloadedRequest?
  /// The phase of the connection; the transport reads it between turns.
  public internal(set) var life = ConnectionLife.open
  /// True once the server ends.
  var serverEnds = false
  var shutdownProgress = ShutdownProgress.none
  /// Nil except while the client attaches to a session of another shard.
  var relayState: RelayState?
  /// Nil except while the client attaches or is attached to a session of another node.
  var linkState: LinkState?
  /// Set if another node relays the client.
  var nodeClient: NodeClient?
  /// True if another node relays the client.
  var isNodeLink: Bool { nodeClient != nil }

  /// Creates a connection with a new session.
  ///
  /// - Parameters:
  ///   - settings: The settings that all connections share.
  ///   - output: The output of the transport; it owns the connection.
  ///   - isWebSocket: True for a WebSocket: frames arrive as `Event.framed`, and each message is
  ///     sent as one text frame.
  ///   - shard: The owner of the session.
  public init(
    settings: ServerSettings, output: any ConnectionOutput, isWebSocket: Bool = false,
    isolation shard: isolated Shard
  ) {
    self.settings = settings
    self.output = output
    self.shard = shard
    turnOutcome = shard.turnOutcome
    isFramingKnown = isWebSocket
    frames = FrameReader(maximumFrameBytes: settings.limits.frameBytes)
    common = SharedCaches.of(shard, settings)
    inputs = settings.limits.inputsPerSecond.map { TokenBucket(perSecond: $0, at: settings.now()) }
    let session = Session(isolation: shard)
    writer = ClientWriter(
      output: output, session: session,
      framing: isWebSocket ? .webSocket : .stream(.lines), buffers: common.buffers.all,
      maximumBytes: settings.limits.outboxBytes, isolation: shard)
    participant = Participant(writer.id, alone: session)
    writer.delegate = self
  }

  var testing: TestMode? { turnOutcome.testing }

  /// True while more bytes for the client would only wait: it does not read, or commits are
  /// pending.
  public var isCongested: Bool { writer.isCongested }
}
