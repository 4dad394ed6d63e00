// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// An object that is notified at the end of a turn, so that it can send the messages of the turn
/// together.
public protocol TurnObserver: AnyObject {
  /// Handles the end of the turn in which the observer was added. It is added again for a later
  /// turn.
  func turnEnded()
}

/// An object that writes to its output when a turn is over.
public protocol DeliveryTarget: AnyObject {
  /// Writes to the output after the turn in which the object was added.
  func deliver()

  /// True if only the end of the connection is to be delivered, because another node owns the
  /// session or the journal does not take its entries.
  var isDiscarded: Bool { get }
}

extension DeliveryTarget {
  /// False.
  public var isDiscarded: Bool { false }
}

/// The deferred work of the current turn: observers of its end, deliveries to clients, and work of
/// stores.
public final class TurnOutcome {
  /// The clients of the shard's sessions.
  public let clients = ClientTable()
  /// The metrics of the shard.
  public let metrics: ShardMetrics
  /// The controls for tests; nil if the shard is not under test.
  public let testing: TestMode?
  private var observers: [any TurnObserver] = []
  /// The objects that write to outputs after the turn, in order.
  private var deliveries: [any DeliveryTarget] = []
  /// The present stage of the shard.
  var stage = Stage.idle
  /// Work that starts when the turn ends.
  private var held: [() -> Void] = []
  /// True after the clock was read in this turn. It is a flag, because an optional instant costs as
  /// much as a message.
  private var isTimed = false
  /// The time at which the work of this turn began.
  private var workBegan = ContinuousClock.now
  /// The time at which the clock was read last in this turn.
  private var lastClockReading = ContinuousClock.now
  /// Called at the end of a turn with each broadcast buffer that has updates: sends it, or delays
  /// it briefly.
  public var sendOrDelay: (any PendingBroadcast) -> Void = { $0.send() }
  /// True if the turn contains a redaction.
  var hasRedaction = false
  /// Called at the end of a turn with a redaction, after all observers: nothing that it hides may
  /// be sent later.
  public var whenRedacted: () -> Void = {}
  private var lastSubscription: UInt64 = 0
  /// Returns a number that is greater than all before.
  func nextSubscription() -> UInt64 {
    lastSubscription += 1
    return lastSubscription
  }
  /// Called with each new state that cannot be encoded.
  let storeFailed: (StoreFailure) -> Void
  /// The commit stage; nil if there is no journal.
  let commits: CommitStage?
  /// The lease of this node; nil if this is the only node.
  private let lease: (any SessionOwnership)?

  init(
    commits: CommitStage?, lease: (any SessionOwnership)? = nil, metrics: ShardMetrics,
    testing: TestMode? = nil, storeFailed: @escaping (StoreFailure) -> Void
  ) {
    self.testing = testing
    self.commits = commits
    self.lease = lease
    self.metrics = metrics
    self.storeFailed = storeFailed
  }

  /// The stages of a shard.
  enum Stage {
    case idle
    /// A turn runs, and writes to no output.
    case turn
    /// Messages are written to outputs, after a turn or later.
    case output
  }

  /// True while a turn runs or outputs are written to. An event that occurs during this time waits
  /// until it is over.
  public var isBusy: Bool { stage != .idle }

  /// True if there is a journal. Bytes that are written within a message may then have to wait for
  /// later entries of the message.
  public var isRecorded: Bool { commits != nil }

  /// Records the start of timed work, unless the turn has started some already.
  ///
  /// It is not called for small work, so that the clock is not read.
  public func beginWork(at now: @autoclosure () -> ContinuousClock.Instant) {
    if isTimed { return }
    isTimed = true
    workBegan = now()
    lastClockReading = workBegan
  }

  /// Returns the time since the previous call, or since the start of timed work; nil if the turn
  /// has no timed work.
  public func timeSinceLastCall(at now: ContinuousClock.Instant) -> Duration? {
    defer { lastClockReading = now }
    return isTimed ? now - lastClockReading : nil
  }

  /// Returns true if the turn has worked for more than 4 ms, so that other clients should be served
  /// before more work starts.
  public func isLong(at now: ContinuousClock.Instant) -> Bool {
    beginWork(at: now)
    return now - workBegan > Self.longTurn
  }

  // The time that other clients wait for one client, in addition to a single message.
  private static let longTurn = Duration.milliseconds(4)

  /// Starts a store's work at the end of the turn, after its messages were delivered.
  ///
  /// So a load that the next input of the turn cancels never starts and costs no thread. One
  /// closure for all stores, because there are thousands; unowned, because the shard retains this
  /// object longer than its stores.
  private(set) lazy var delayWork: (@escaping () -> Void) -> Void = { [unowned self] begin in
    if stage == .turn { held.append(begin) } else { begin() }
  }

  /// Returns the commits that must end before bytes that a client receives now are sent; nil if
  /// there are none.
  ///
  /// - Parameters:
  ///   - session: The session of the client.
  ///   - earlier: The pending commits of the sessions that the client has left.
  public func pendingCommits(
    of session: Session, after earlier: [CommitNumber]
  ) -> PendingCommits? {
    guard let commits else { return nil }
    if session.sharedStores.count == 0 { return commits.pending(session.record, after: earlier) }
    let shared = session.sharedStores.values.compactMap(\.owner.record?.lastCommit)
    return commits.pending(session.record, after: earlier + shared)
  }

  /// Journals a session as a whole if entries of it are missing in the journal.
  ///
  /// - Returns: False if this failed within the last second, or the session has ended: nothing of
  ///   the session may be sent.
  public func complete(_ session: Session) -> Bool {
    guard let commits else { return true }
    guard commits.complete(session) else { return false }
    return session.sharedStores.count == 0
      || session.sharedStores.values.allSatisfy { commits.complete($0.owner) }
  }

  /// The approximate size of the turn's journal entries until now, in bytes; nil if there are none.
  public var entryBytes: Int? {
    commits.flatMap { $0.hasEntries ? $0.entryBytes : nil }
  }

  /// Notifies an observer of the next commit that ends.
  public func awaitCommit(_ observer: any CommitObserver) { commits?.add(observer) }

  /// Cancels `awaitCommit`.
  public func cancelAwaitCommit(_ observer: any CommitObserver) { commits?.remove(observer) }

  /// Starts work and commits entries after a message under test, as at the end of a turn.
  public func messageEnded(isolation shard: isolated Shard) {
    beginDelayedWork()
    commits?.turnEnded(shard)
  }

  /// Starts the work that has waited until now.
  func beginDelayedWork() {
    while !held.isEmpty {
      let ready = held
      held.removeAll()
      for begin in ready { begin() }
    }
  }

  /// Notifies an observer once, at the end of this turn.
  public func add(_ observer: any TurnObserver) { observers.append(observer) }

  /// Performs a delivery after this turn and after all deliveries that were added before.
  public func add(delivery target: any DeliveryTarget) {
    assert(stage == .turn, "a delivery must be added within a turn")
    deliveries.append(target)
  }

  /// Ends the turn; observers that are added meanwhile are notified as well.
  func reached(_ shard: isolated Shard) {
    repeat {
      notifyObservers()
      commits?.turnEnded(shard)
    } while !observers.isEmpty
    isTimed = false
  }

  /// Calls `body` after everything has been written that this turn has passed to outputs until now.
  public func whenDelivered(_ body: @escaping () -> Void) { add(delivery: DeliveryStep(body)) }

  private final class DeliveryStep: DeliveryTarget {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func deliver() { body() }
  }

  /// Calls `body`, which writes to outputs. Events that it causes find `isBusy` and wait.
  public func writing(_ body: () -> Void) {
    let former = stage
    stage = .output
    body()
    stage = former
  }

  /// Delivers the messages of the turn and starts its work; both wait while the node has no lease.
  func deliver() {
    if let lease, !lease.isHeld { return deliverDiscarded() }
    // No delivery is added meanwhile, because an event of an output starts a separate turn.
    for target in deliveries { target.deliver() }
    deliveries.removeAll(keepingCapacity: true)
    beginDelayedWork()
  }

  /// Disconnects clients whose sessions are lost.
  private func deliverDiscarded() {
    let discarded = deliveries.filter(\.isDiscarded)
    guard !discarded.isEmpty else { return }
    deliveries.removeAll(where: \.isDiscarded)
    for target in discarded { target.deliver() }
  }

  private func notifyObservers() {
    var next = 0
    while true {
      while next < observers.count {
        observers[next].turnEnded()
        next += 1
      }
      guard hasRedaction else { break }
      hasRedaction = false
      whenRedacted()
    }
    observers.removeAll(keepingCapacity: true)
  }
}
