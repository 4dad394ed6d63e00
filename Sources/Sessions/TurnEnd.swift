// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Something that wants to know when a turn of the loop ends, to send what the turn has written in
/// one piece.
public protocol TurnEndObserver: AnyObject {
  /// The turn in which it was added ends; it is added again for the next one, if at all.
  func turnEnded()
}

/// Who wants to know when the current turn of the loop ends.
public final class TurnEnd {
  private var observers: [any TurnEndObserver] = []
  /// Whether a turn has begun and not ended.
  var isAwaited = false
  private var isReached = false
  /// Work that begins when the turn ends.
  private var held: [any HeldWork] = []
  /// When work of this turn began, if anybody takes its time.
  private var workBegan: ContinuousClock.Instant?
  /// Called at the end of a turn with each text that has something for those who look on at a store: sends it,
  /// or keeps it to send it soon.
  public var sendOrHold: (any HeldText) -> Void = { $0.send() }
  /// Whether the turn hides what was shown before.
  var hides = false
  /// Called at the end of a turn that hides what was shown before, when all who are told have been: of that
  /// nothing is to go out later.
  public var whenHidden: () -> Void = {}
  /// What is written down first; nil where nothing is.
  let record: TurnRecord?

  init(record: TurnRecord?) { self.record = record }

  /// Whether bytes of a turn have to wait for what the turn has done to be written down, which is
  /// between messages at the earliest.
  public var isRecorded: Bool { record != nil }

  /// Work begins whose time is taken, unless some has in this turn already.
  ///
  /// Not asked for where there is little to do, so that the clock is not looked at.
  public func beginWork(at now: @autoclosure () -> ContinuousClock.Instant) {
    if workBegan == nil { workBegan = now() }
  }

  /// Whether this turn has worked for so long that others should be heard before more is begun.
  public func isLong(at now: ContinuousClock.Instant) -> Bool {
    beginWork(at: now)
    return workBegan.map { now - $0 > Self.longTurn } ?? false
  }

  // What others wait for one of us, beside a single message.
  private static let longTurn = Duration.milliseconds(4)

  /// Lets a store's work wait for the end of the turn, or for what goes out before.
  ///
  /// So a load that is cancelled by an input right behind it never begins, and costs no thread
  /// anything. One for all stores, of which there are thousands; unowned, because the shard has this as long as it
  /// has a store.
  private(set) lazy var holdsWork: (any HeldWork) -> Void = { [unowned self] work in
    if isAwaited { held.append(work) } else { work.beginNext() }
  }

  /// Writes down what the turn has done until now, and lets the work begin that it has set off.
  ///
  /// - Parameter session: The session of the frontend for which bytes are to go out.
  /// - Returns: Whether they may. If not, since it could not be written down, they must not go out
  ///   ever: the frontend is best cut off, and comes back.
  public func commit(for session: Session) -> Bool {
    defer { beginHeld() }
    return record?.commit(for: session) ?? true
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
  public func add(_ observer: any TurnEndObserver) { observers.append(observer) }

  /// The turn ends; observers that come meanwhile are told too.
  ///
  /// What an observer sets off may be a turn of its own; whoever is added there is told here.
  ///
  /// - Parameter session: Finds the session of a handle, if it is not over.
  func reached(_ session: (SessionHandle) -> Session?) {
    guard !isReached else { return }
    isReached = true
    defer { isReached = false }
    record?.commit()
    beginHeld()
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
    workBegan = nil
    beginHeld()
    record?.turnEnded(session)
  }
}
