// SPDX-License-Identifier: Apache-2.0

internal import Delivery
public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// One conversation with one client: bytes in, requests carried out in order.
///
/// A connection knows nothing of sockets. It takes events from a transport, in turns of the shard's loop; what it has for the
/// client, its `writer` delivers. Whatever the client sends costs no more than an error of its own.
public final class Connection {
  let settings: ServerSettings
  let common: SharedCaches
  // because a shard is there as long as its connections.
  unowned let shard: Shard
  let turnOutcome: TurnOutcome
  let testing: TestMode?
  // because the output owns the connection, and notifies it last of all that it is gone.
  unowned let output: any ConnectionOutput
  let writer: ClientWriter
  /// The client's place in a session; one of its own unless it has attached to another.
  var participant: Participant { didSet { writer.session = participant.session } }

  /// Who the client has shown to be; nil before that, and where no token is asked for.
  public internal(set) var identity: Identity?
  var wrongTokens = 0
  /// Number of whole messages that have come, modulo 2^32, to notice that none comes any more.
  public internal(set) var messageCount: UInt32 = 0
  let inputs: TokenBucket?
  /// The templates of the client's last inputs.
  var templates = RequestTemplates()
  var frames: FrameReader
  /// True once the framing is known: a WebSocket has its own, in a stream the first byte decides.
  var isFramingKnown: Bool

  /// Requests whose effects have not ended, or whose responses are open.
  var running = RunningRequests()
  // What came while the client did not read, or while others were served; never more than one chunk holds.
  var backlog: [Arrival] = []
  /// What is left of a batch that comes before it.
  var batchRest: BatchRest?
  /// The request that another thread works on, which the client's next messages wait for.
  var offloaded: OffloadedRequest?
  /// Number of requests that were offloaded, modulo 2^32.
  var offloadCount: UInt32 = 0
  var isRestAwaited = false
  /// The transport looks at it between turns.
  public internal(set) var life = ConnectionLife.open
  var farewell = Farewell.none

  /// A `FrameEvent` that has to wait.
  enum Arrival {
    case message([UInt8])
    case tooLarge
    case unusableHeader(HeaderFault)
    case foreign(ForeignProtocol)

    init(_ event: FrameEvent) {
      switch event {
      case .message(let bytes): self = .message(Array(bytes))
      case .tooLarge: self = .tooLarge
      case .unusableHeader(let fault): self = .unusableHeader(fault)
      case .foreign(let other): self = .foreign(other)
      }
    }
  }

  /// A connection with a session of its own.
  ///
  /// - Parameters:
  ///   - settings: What it has in common with others.
  ///   - output: The way back to the peer.
  ///   - isWebSocket: Whether the peer is at a WebSocket: frames come as `Event.framed`, and each
  ///     message goes out as one of its text frames.
  ///   - shard: Who owns the session.
  public init(
    settings: ServerSettings, output: any ConnectionOutput, isWebSocket: Bool = false,
    isolation shard: isolated Shard
  ) {
    self.settings = settings
    self.output = output
    self.shard = shard
    turnOutcome = shard.turnOutcome
    testing = shard.testing
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

  /// True while more bytes for the client would only have to wait.
  public var isCongested: Bool { writer.isCongested }
}
