// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Something that wants to know when a turn of the loop ends, to send what the turn has written in
/// one piece.
public protocol TurnObserver: AnyObject {
  /// The turn in which it was added ends; it is added again for the next one, if at all.
  func turnEnded()
}

/// Something that has bytes for a client, or something else to do outside, once a turn is over.
public protocol DeliveryTarget: AnyObject {
  /// The turn in which it was added is over: writes to its output.
  func deliver()
}

/// Who wants to know when the current turn of the loop ends.
public final class TurnOutcome {
  /// The clients that sessions of the shard have messages for.
  public let clients = ClientTable()
  private var observers: [any TurnObserver] = []
  /// What the turn in hand has for clients, in order.
  private var deliveries: [any DeliveryTarget] = []
  /// True while a turn runs.
  public internal(set) var isInTurn = false
  /// True while a turn runs, or outputs are written to: an event that this causes waits until it is over.
  public internal(set) var isBusy = false
  /// Work that begins when the turn ends.
  private var held: [any HeldWork] = []
  /// True once the clock has been looked at in this turn; a flag, because an optional instant costs as much as a message.
  private var isTimed = false
  /// When work of this turn began.
  private var workBegan = ContinuousClock.now
  /// When the clock was looked at last in this turn.
  private var lastLook = ContinuousClock.now
  /// Called at the end of a turn with each text that has something for those who look on at a store: sends it,
  /// or keeps it to send it soon.
  public var sendOrHold: (any PendingBroadcast) -> Void = { $0.send() }
  /// Whether the turn hides what was shown before.
  var hides = false
  /// Called at the end of a turn that hides what was shown before, when all who are told have been: of that
  /// nothing is to go out later.
  public var whenHidden: () -> Void = {}
  /// Called with each new state that cannot be encoded.
  let storeFailed: (StoreFailure) -> Void
  /// The way to the journal; nil where there is none.
  let commits: CommitStage?

  init(commits: CommitStage?, storeFailed: @escaping (StoreFailure) -> Void) {
    self.commits = commits
    self.storeFailed = storeFailed
  }

  /// True if what is written in the middle of a message may have to wait for what comes later in it.
  public var isRecorded: Bool { commits != nil }

  /// Work begins whose time is taken, unless some has in this turn already.
  ///
  /// Not asked for where there is little to do, so that the clock is not looked at.
  public func beginWork(at now: @autoclosure () -> ContinuousClock.Instant) {
    if isTimed { return }
    isTimed = true
    workBegan = now()
    lastLook = workBegan
  }

  /// How long the turn has worked since this was asked for last; nil if that is not known.
  public func timeSinceLook(at now: ContinuousClock.Instant) -> Duration? {
    defer { lastLook = now }
    return isTimed ? now - lastLook : nil
  }

  /// Whether this turn has worked for so long that others should be heard before more is begun.
  public func isLong(at now: ContinuousClock.Instant) -> Bool {
    beginWork(at: now)
    return now - workBegan > Self.longTurn
  }

  // What others wait for one of us, beside a single message.
  private static let longTurn = Duration.milliseconds(4)

  /// Lets a store's work wait for the end of the turn, or for what goes out before.
  ///
  /// So a load that is cancelled by an input right behind it never begins, and costs no thread
  /// anything. One for all stores, of which there are thousands; unowned, because the shard has this as long as it
  /// has a store.
  private(set) lazy var holdsWork: (any HeldWork) -> Void = { [unowned self] work in
    if isInTurn { held.append(work) } else { work.beginNext() }
  }

  /// The commits that bytes have to wait for which a client receives now; nil if none.
  ///
  /// - Parameters:
  ///   - session: The session that the client is in.
  ///   - earlier: The same for the sessions that it was in before.
  public func pendingCommits(
    of session: Session, after earlier: [CommitNumber]
  ) -> PendingCommits? {
    commits.flatMap { $0.pending(session.record, after: earlier) }
  }

  /// Writes a session down as a whole, if something of it is missing in the journal.
  ///
  /// - Returns: False if that has failed just now: nothing of the session may go out.
  public func complete(_ session: Session) -> Bool { commits?.complete(session) ?? true }

  /// About how many bytes the turn has for the journal until now; nil if nothing.
  public var entryBytes: Int? {
    commits.flatMap { $0.hasEntries ? $0.entryBytes : nil }
  }

  /// Notifies an observer of the next commit that ends.
  public func awaitCommit(_ observer: any CommitObserver) { commits?.add(observer) }

  /// Notifies an observer no more.
  public func awaitCommitNoMore(_ observer: any CommitObserver) { commits?.remove(observer) }

  /// Ends a message under test as if it were a turn, as far as work and the journal are concerned.
  public func messageEnded(isolation shard: isolated Shard) {
    beginHeld()
    commits?.turnEnded(shard)
  }

  /// Lets the work begin that has waited until now.
  func beginHeld() {
    while !held.isEmpty {
      let ready = held
      held.removeAll()
      for work in ready { work.beginNext() }
    }
  }

  /// Tells an observer once, at the end of this turn.
  public func add(_ observer: any TurnObserver) { observers.append(observer) }

  /// Delivers something once this turn is over, after all that was added before.
  public func add(delivery target: any DeliveryTarget) {
    assert(isInTurn, "a delivery that no turn delivers")
    deliveries.append(target)
  }

  /// The turn ends; observers that come meanwhile are notified too.
  func reached(_ shard: isolated Shard) {
    repeat {
      notifyObservers()
      commits?.turnEnded(shard)
    } while !observers.isEmpty
    isTimed = false
  }

  /// Does something once all has been written that this turn has given to outputs until now.
  public func whenDelivered(_ body: @escaping () -> Void) { add(delivery: DeliveryStep(body)) }

  private final class DeliveryStep: DeliveryTarget {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func deliver() { body() }
  }

  /// Writes to outputs; what they call back meanwhile finds `isBusy`.
  public func writing(_ body: () -> Void) {
    let wasBusy = isBusy
    isBusy = true
    body()
    isBusy = wasBusy
  }

  /// The turn is over: delivers what it has for clients, and starts its work.
  func deliver() {
    // None is added meanwhile: what an output causes is a turn of its own.
    for target in deliveries { target.deliver() }
    deliveries.removeAll(keepingCapacity: true)
    beginHeld()
  }

  private func notifyObservers() {
    var next = 0
    while true {
      while next < observers.count {
        observers[next].turnEnded()
        next += 1
      }
      guard hides else { break }
      hides = false
      whenHidden()
    }
    observers.removeAll(keepingCapacity: true)
  }
}
