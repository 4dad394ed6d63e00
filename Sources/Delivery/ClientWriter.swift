// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol
public import Wire

/// The messages for one client, from the turns that produce them to the bytes that its output
/// sends.
///
/// A turn appends messages to one buffer. Messages that cannot be sent wait in one of two queues:
/// in the outbox while the client does not read or while other clients are served, and in the
/// commit queue until the journal contains the entries of their turn. Updates in the outbox are
/// coalesced; each store has one place there.
///
///     response, event --> out ------------------------------> actions --> output
///     update -----------> out, or the broadcast buffer of      ^
///                         the store's passive subscribers      |
///                     \-> outbox, while the client lags -------+
///                     \-> commit queue, while a commit runs ---+
public final class ClientWriter {
  // The properties are in the order of use. Each message reads the first ones, and the memory of
  // one of many clients is not in the processor's cache.

  /// True after `close` or `disconnected`: nothing more is written.
  public internal(set) var isClosed = false
  /// True while additional bytes for the client would only be queued.
  public internal(set) var isCongested = false
  /// True until other clients have been served; the client's next messages wait.
  public internal(set) var isYielding = false
  /// True if output was discarded, because another node owns the session or the journal does not take
  /// its entries; the end of the connection is delivered also while the node has no lease.
  public internal(set) var isDiscarded = false
  /// The events for which the writer is registered with its shard.
  var registrations: Registrations = []
  /// The framing of the client's messages.
  public var framing: MessageFraming
  /// True if another connection writes to the same client.
  private var sharesOutput = false
  /// True if a write must not end inside a message.
  var writesWholeMessages: Bool { framing.isWebSocket || sharesOutput }
  /// The size of the largest recent delivery, in bytes, which falls by a sixteenth with each delivery; at
  /// most `maximumUsualBytes`.
  var usualBytes: UInt16 = 0
  /// True if something that was written for the client can never be sent; the client is then
  /// disconnected.
  var isLost = false
  /// True during the pause after a large state.
  var isPausing = false
  /// The output that is not in the outbox, in actions or in the commit queue.
  var out = JSONWriter()
  /// Number of bytes of `out` that go to the output when the turn is over.
  var readyBytes = 0
  /// The broadcast buffers from which the client takes updates since something else was written; at
  /// most one per store.
  var broadcasts: [BroadcastPosition] = []
  let turnOutcome: TurnOutcome
  var testing: TestMode? { turnOutcome.testing }
  /// Size of the request that is offloaded, in bytes; nil if there is none.
  var offloadedBytes: Int?
  /// The messages that precede `out` while the client does not read, or until other clients have
  /// been served.
  var outbox = Outbox()

  // Each turn reads the following properties.

  // Unowned, because the delegate owns the writer.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  /// The connection, which carries out the client's messages and disconnects the client; it is set
  /// before anything is written.
  public unowned var delegate: (any ClientWriterDelegate)!
  // Unowned, because the output owns the delegate.
  unowned var output: any ClientOutput
  /// The actions of the output before `readyBytes` are written.
  var actions: [OutputAction] = []
  /// Number of bytes in `actions`.
  var actionBytes = 0
  /// The messages that follow a message whose last part is missing; nil if no part is missing.
  var heldBack: [UInt8]?
  /// Bytes that wait for commits before they go to the output.
  var commitQueue = CommitQueue()
  /// Pending commits of the sessions that the client has left.
  var formerSessionCommits: [CommitNumber] = []
  /// The session of the client; bytes wait for its commits.
  public var session: Session
  /// The bytes that wait for the client to read them, or for commits.
  public var queuedBytes: Int { outbox.byteCount + commitQueue.byteCount }
  /// The account of the client's buffers; nil while they have at most 16 KiB.
  var account: ByteAccount?

  // because a shard exists longer than its connections.
  unowned let shard: Shard
  /// The id of the client on its shard.
  public let id: ClientID
  /// The name of the client's identity; nil before it is known, and if there are no identities.
  public internal(set) var owner: String?
  /// The maximum number of queued bytes for the client.
  let maximumBytes: Int
  /// The account of the buffers of all clients, or of one identity.
  var buffers: ByteAccount
  /// Size of the incomplete frame from the client, in bytes.
  public internal(set) var partialBytes = 0
  /// Subscriptions with a large changed state, which is sent with pauses; none of them is in the
  /// outbox.
  var largeChanges: [Subscription] = []

  /// Creates a writer and adds it to the clients of the shard.
  ///
  /// - Parameters:
  ///   - output: The output of the client's connection.
  ///   - session: The session of the client.
  ///   - framing: The initial framing of messages.
  ///   - buffers: The account of the client's buffers.
  ///   - maximumBytes: The maximum number of queued bytes for the client.
  ///   - shard: The shard of the session.
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
    id = shard.clients.makeID()
    shard.clients.add(self, as: id)
  }

  /// True if all messages have been passed to the output or to the commit queue.
  public var isEmpty: Bool { outbox.isEmpty && out.count == readyBytes }

  /// True if all messages are at the output or wait for a commit, and no action waits.
  public var isDelivered: Bool { isEmpty && !registrations.contains(.delivery) }

  /// Passes everything that is written from now on to another output, which owns the delegate.
  ///
  /// Another connection writes to the same client, so each write has whole messages.
  public func write(to output: any ClientOutput) {
    self.output = output
    sharesOutput = true
  }

  /// True while a commit of a session that the client has left has not ended.
  public var awaitsFormerSessionCommits: Bool { !formerSessionCommits.isEmpty }

  /// True while bytes wait for a commit.
  public var awaitsCommits: Bool { !commitQueue.isEmpty }

  /// True while the client's next messages wait: until the client reads, or until offloaded work
  /// has ended.
  public var isBlocked: Bool { isCongested || isOffloading }

  /// True while another thread writes a frame or works on a request.
  public var isOffloading: Bool { outbox.hasLargeFrame || offloadedBytes != nil }
}

extension ClientWriter {
  /// The events that a shard reports to a writer once.
  struct Registrations: OptionSet {
    let rawValue: UInt8

    /// The end of the turn.
    static let turnEnd = Registrations(rawValue: 1)
    /// The delivery after the turn.
    static let delivery = Registrations(rawValue: 2)
    /// The next end of a commit.
    static let commit = Registrations(rawValue: 4)
  }
}

/// The connection of a writer.
public protocol ClientWriterDelegate: AnyObject {
  /// Writes the last messages of the turn that ends, and calls `endTurn`.
  func turnEnded()

  /// Continues with the client's messages that waited.
  func writerIsReady(_ shard: isolated Shard)

  /// Disconnects the client.
  func writerFailed(_ failure: ClientWriter.Failure)

  /// Ends the connection, because the client has lost its session.
  func evicted()

  /// Ends the connection on a node among others, because the journal lacks entries of its session.
  func journalFailed()
}

extension ClientWriter {
  /// The reason why a client is disconnected.
  public enum Failure: Sendable {
    /// The journal lost entries of the client's session, or a test dropped the connection.
    case cut
    /// More bytes are queued than the limits admit.
    case tooManyBytes
  }
}
