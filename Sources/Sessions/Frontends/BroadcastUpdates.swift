// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

/// The messages about a store's changes, as all frontends get them that only look on.
///
/// Such a frontend follows the text instead of taking each message: when the text is sent, at the end of a
/// turn or of several (`PendingBroadcast`), or when something else is to be written for it before, it takes all that
/// has come until then. So a change costs nothing for each of many frontends; what they take is copied where
/// more goes out, and else sent as it is.
///
/// Places in the text are counted from its first message of all. Messages are kept until the text is sent,
/// or followed by nobody any more: then all who follow have taken them.
public final class BroadcastUpdates {
  /// The messages that have not been sent, one after the other.
  private var bytes = JSONWriter()
  /// The place where they begin.
  private var past = 0
  /// What the last message leads to; nil where there is none.
  private(set) var revision: Revision?
  /// The place where that begins.
  private var start = 0
  private var write: ((borrowing Update, inout JSONWriter) -> Void)?
  /// A copy of the bytes; nil once they are more.
  private var copy: BroadcastBuffer?
  /// Those of the store's subscriptions that do not follow, so that it need not look for them at each
  /// change; nil where it has to.
  var others: [Subscription]?
  private var followers: [Follower] = []
  private let turnOutcome: TurnOutcome
  private var isTurnEndAwaited = false
  public var isHeld = false
  /// How much there was the last time, up to some size.
  private var usualBytes = 0

  // Each of them holds its session, and so this. Whoever leaves that gives up first what it follows there
  // (`Subscription.detach`).
  private struct Follower {
    let subscription: Subscription
    let client: ClientID
  }

  // With so much a text is sent when the turn ends. Where a turn brings it to twice as much another one is begun,
  // so that those who follow take what there is.
  private static let dueBytes = 64 << 10

  public var isDue: Bool { bytes.count >= Self.dueBytes }
  var isFull: Bool { bytes.count >= 2 * Self.dueBytes }

  init(_ turnOutcome: TurnOutcome) { self.turnOutcome = turnOutcome }

  /// The place where the text ends.
  public var end: Int { past + bytes.count }

  /// Where a place that has not been sent, or the end of all that has, is in `withBytes`.
  public func offset(of place: Int) -> Int { place - past }

  /// Calls `body` with the messages that have not been sent, one after the other; it must not lead back to
  /// the store.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withBytes(body)
  }

  /// The messages that have not been sent, the same object for all until there are more.
  public var broadcastBuffer: BroadcastBuffer {
    if let copy { return copy }
    let buffer = BroadcastBuffer(bytes.bytes())
    copy = buffer
    return buffer
  }

  /// The place where the message about a change begins; it is written if it is not there yet. Nil if it
  /// has been there, and is kept no more.
  ///
  /// - Parameters:
  ///   - frame: The change that is being told.
  ///   - write: Writes the message, and all later ones; the same bytes whoever asks.
  public func place(
    of frame: borrowing Update,
    writing write: @escaping (borrowing Update, inout JSONWriter) -> Void
  ) -> Int? {
    // All who followed may have taken it and left since it was written.
    guard revision != frame.revision else { return start < past ? nil : start }
    if bytes.count == 0 { bytes.reserve(likeLastTime: usualBytes) }
    start = end
    copy = nil
    write(frame, &bytes)
    revision = frame.revision
    self.write = write
    return start
  }

  /// Writes the message about a change for those who follow, if there are any.
  func add(_ frame: borrowing Update) {
    if let write, isFollowed { _ = place(of: frame, writing: write) }
  }
}

// MARK: - Those who follow

extension BroadcastUpdates {
  var isFollowed: Bool { !followers.isEmpty }

  /// - Returns: Its place among those who follow; where that changes later, `Subscription.moved` says so.
  func join(_ subscription: Subscription, of client: ClientID) -> Int {
    others = nil
    followers.append(Follower(subscription: subscription, client: client))
    return followers.count - 1
  }

  /// The one with a place follows no more; the last one takes that.
  func leave(_ place: Int) {
    others = nil
    followers.swapAt(place, followers.count - 1)
    followers.removeLast()
    if place < followers.count { followers[place].subscription.moved(to: place) }
    if followers.isEmpty { forget() }
  }

  /// All that there is has been taken.
  private func forget() {
    guard bytes.count > 0 else { return }
    past = end
    usualBytes = min(bytes.count, Self.dueBytes)
    bytes = JSONWriter()
    copy = nil
  }
}

extension BroadcastUpdates: TurnObserver {
  /// Lets those who follow, if there are any, take what there is when the turn ends, or soon after.
  func awaitTurnEnd() {
    guard isFollowed, !isTurnEndAwaited else { return }
    isTurnEndAwaited = true
    turnOutcome.add(self)
  }

  public func turnEnded() {
    isTurnEndAwaited = false
    if bytes.count > 0 { turnOutcome.sendOrHold(self) }
  }
}

extension BroadcastUpdates: PendingBroadcast {
  public func send() {
    guard bytes.count > 0 else { return }
    let end = end
    let told = followers
    for index in told.indices { turnOutcome.clients[told[index].client]?.sendFollowed() }
    // What has come meanwhile is sent when the turn ends for that.
    if self.end == end { forget() }
  }
}
