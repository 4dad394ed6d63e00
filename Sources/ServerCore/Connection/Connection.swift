// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// One conversation with one peer: bytes in, requests carried out in order, bytes out.
///
/// A connection knows nothing of sockets. It is told what came and writes to its output, once per
/// turn of the shard's loop. Whatever the peer sends costs no more than an error of its own.
public final class Connection {
  let settings: ServerSettings
  /// The seat in a session; one of its own unless it has attached to another.
  // because a seat is taken by somebody, the connection has to be complete before it has one.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  var member: Member!

  // because a shard is there as long as its connections.
  unowned let shard: Shard
  let turnEnd: TurnEnd
  let testing: TestMode?
  /// Who the peer has shown to be; nil before that, and where no token is asked for.
  public internal(set) var identity: Identity?
  var wrongTokens = 0
  /// How many whole messages have come, modulo 2^32, to notice that none comes any more.
  public internal(set) var messageCount: UInt32 = 0
  let inputs: Allowance?
  /// What this peer's last inputs came in, once one has come.
  var shape: SendShape?
  var otherShape: SendShape?
  var shapeMisses: UInt8 = 0
  // because the output owns the connection, and tells it last of all that it is gone.
  unowned let output: any ConnectionOutput
  var frames: FrameReader
  var framing: Framing?
  /// Whether each message is a text frame of a WebSocket, in place of a `framing`.
  let isWebSocket: Bool
  var out = JSONWriter()
  /// How many bytes of `out` go to the output when the turn is over.
  var readyBytes = 0
  /// What the output does before that.
  var actions: [OutputAction] = []
  /// True if the connection delivers something when the turn is over.
  var isDeliveryAwaited = false
  /// How many bytes there are in `actions`.
  var handedBytes = 0
  /// What comes before `out`, while the client does not read, or until others have been heard.
  var outbox = Outbox()
  /// Bytes that wait for commits before they go to the output.
  var deliveries = Deliveries()
  /// True if the next end of a commit is notified.
  var isCommitAwaited = false
  /// Commits of the sessions that the client has left which have not ended.
  var leftCommits: [CommitNumber] = []
  /// True if something was written for the client that can never be sent: it is disconnected.
  var isLost = false
  let common: SharedCaches
  /// What is counted of a partial frame and of what waits for the peer to read; nil until that was much.
  var buffers: ByteAccount?
  /// What is held of a partial frame; kept here, because the reader cannot be asked from inside its own call.
  var partialBytes = 0
  var isTurnEndAwaited = false
  /// What it follows since something else was written; of each store one text.
  var following: [Following] = []
  /// How much was sent the last time, up to some size.
  var usualBytes: UInt16 = 0

  /// Requests whose effects have not ended, or whose answers are open.
  var running = RunningRequests()

  // What came while the peer did not read, or while others were heard; never more than one chunk holds.
  var backlog: [Arrival] = []
  /// What is left of a batch that comes before it.
  var batchRest: BatchRest?
  /// True while more bytes for the client would only have to wait.
  public internal(set) var isCongested = false
  /// The request that another thread works on, which the client's next messages wait for.
  var offloaded: OffloadedRequest?
  /// Stores that have changed, and whose large states are sent one by one, with pauses; none of them is in the outbox.
  var largeChanges: [Attachment] = []
  var isPausing = false
  var isRestAwaited = false
  /// Whether others are heard before this peer's next message.
  var isYielding = false
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
    self.isWebSocket = isWebSocket
    self.shard = shard
    turnEnd = shard.turnEnd
    testing = shard.testing
    frames = FrameReader(maximumFrameBytes: settings.limits.frameBytes)
    common = SharedCaches.of(shard, settings)
    inputs = settings.limits.inputsPerSecond.map { Allowance(perSecond: $0, at: settings.now()) }
    member = Member(self, isolation: shard)
  }
}
