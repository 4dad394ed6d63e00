// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
public import Wire

/// The messages for one client, from the turns that produce them to the bytes that its output sends.
///
/// Messages are appended to one buffer while a turn runs. What cannot be sent waits: in the outbox while the client
/// does not read or while others are served, and in the commit queue until the journal has the entries of its turn. Updates in
/// the outbox are coalesced, one place for each store.
///
///     response, event --> out ------------------------------> actions --> output
///     update -----------> out, or the text that all            ^
///                         passive subscribers of a store share |
///                     \-> outbox, while the client lags -------+
///                     \-> commit queue, while a commit runs ---+
public final class ClientWriter {
  // In the order of use: the first ones are read for each message, and the memory of one client of many is cold.

  /// True once nothing more is written.
  public internal(set) var isClosed = false
  /// True while more bytes for the client would only have to wait.
  public internal(set) var isCongested = false
  /// True until other clients were served: the client's next messages wait.
  public internal(set) var isYielding = false
  var isTurnEndAwaited = false
  /// True if the writer delivers something when the turn is over.
  var isDeliveryAwaited = false
  public var framing: MessageFraming
  /// How much was sent the last time, up to some size.
  var usualBytes: UInt16 = 0
  var out = JSONWriter()
  /// Number of bytes of `out` that go to the output when the turn is over.
  var readyBytes = 0
  /// What it follows since something else was written; of each store one text.
  var following: [Following] = []
  let turnOutcome: TurnOutcome
  let testing: TestMode?
  /// Number of bytes held of a request that another thread works on; nil if there is none.
  public internal(set) var offloadedBytes: Int?
  /// What comes before `out`, while the client does not read, or until others have been served.
  var outbox = Outbox()

  // Read for each turn.

  /// Decides what the client's messages do, and when it is disconnected; set before anything is written.
  // because the delegate owns the writer.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  public unowned var delegate: (any ClientWriterDelegate)!
  // because the output owns the delegate.
  unowned let output: any ClientOutput
  /// What the output does before `readyBytes` are written.
  var actions: [OutputAction] = []
  /// Number of bytes in `actions`.
  var handedBytes = 0
  /// Bytes that wait for commits before they go to the output.
  var commitQueue = CommitQueue()
  /// Commits of the sessions that the client has left which have not ended.
  var leftCommits: [CommitNumber] = []
  /// True if the next end of a commit is notified.
  var isCommitAwaited = false
  /// True if something was written for the client that can never be sent: it is disconnected.
  var isLost = false
  /// The session that the client is in: bytes wait for its commits.
  public var session: Session
  /// What is counted of a partial frame and of what waits for the client to read; nil until that was much.
  var account: ByteAccount?

  // because a shard is there as long as its connections.
  unowned let shard: Shard
  /// The address of the client on its shard.
  public let id: ClientID
  /// The name of the identity that the client has shown; nil before, and where there are none.
  public internal(set) var owner: String?
  /// How many bytes may wait for the client.
  let maximumBytes: Int
  /// The account of everything that is held for clients, or for those of one identity.
  var buffers: ByteAccount
  /// Number of bytes held of a frame that has begun and not ended.
  public internal(set) var partialBytes = 0
  /// Stores that have changed, and whose large states are sent one by one, with pauses; none of them is in the outbox.
  var largeChanges: [Subscription] = []
  var isPausing = false

  /// - Parameters:
  ///   - output: The way to the client.
  ///   - session: The session that the client is in.
  ///   - framing: How messages are framed, until that changes.
  ///   - buffers: The account that held bytes are counted in.
  ///   - maximumBytes: How many bytes may wait for the client.
  ///   - shard: The owner of the session.
  public init(
    output: any ClientOutput, session: Session,
    framing: MessageFraming, buffers: ByteAccount, maximumBytes: Int,
    isolation shard: isolated Shard
  ) {
    self.output = output
    self.session = session
    self.framing = framing
    self.buffers = buffers
    self.maximumBytes = maximumBytes
    self.shard = shard
    turnOutcome = shard.turnOutcome
    testing = shard.testing
    id = shard.clients.makeID()
    shard.clients.add(self, as: id)
  }

  /// True if nothing waits for the client, in the outbox or for a commit.
  public var isEmpty: Bool { outbox.isEmpty && out.count == readyBytes }

  /// True while bytes wait for a commit.
  public var awaitsCommits: Bool { !commitQueue.isEmpty }

  /// True while the client's next messages wait: for it to read, or for another thread.
  public var isHeldUp: Bool { isCongested || isOffloading }

  /// True while another thread writes a frame, or works on a request.
  public var isOffloading: Bool { outbox.hasLargeFrame || offloadedBytes != nil }
}

/// The connection that a writer works for.
public protocol ClientWriterDelegate: AnyObject {
  /// The turn ends: the last messages of the turn are written, and `flush` is called.
  func turnEnded()

  /// The client's messages that waited can continue.
  func writerIsReady(_ shard: isolated Shard)

  /// The client is to be disconnected.
  func writerFailed(_ failure: ClientWriter.Failure)

  /// The client has lost its session, and its connection ends.
  func evicted()
}

extension ClientWriter {
  /// A reason to disconnect a client.
  public enum Failure: Sendable {
    /// The connection is cut: by the journal, or as if the network had.
    case cut
    /// More bytes wait than may wait for one client.
    case tooManyBytes
  }
}
