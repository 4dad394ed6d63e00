// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

/// The broadcast buffer of a store: its updates as all passive subscribers receive them.
///
/// A passive subscriber joins the buffer instead of receiving each update. It takes all new updates
/// when the buffer is sent, at the end of a turn or of several turns (`PendingBroadcast`), or
/// before another message is written for it. So an update costs nothing per passive subscriber. The
/// bytes are copied only for a client that has more to send.
///
/// Places in the buffer are byte offsets that count from its first update ever. Updates are kept
/// until the buffer is sent or the last subscriber has left it; all subscribers have taken them
/// then.
public final class BroadcastUpdates {
  /// The updates that have not been sent, one after the other.
  private var bytes = JSONWriter()
  /// The place of the first byte of `bytes`.
  private var past = 0
  /// The revision after the last update; nil before the first update.
  private(set) var revision: Revision?
  /// The place at which the last update begins.
  private var start = 0
  /// Writes an update; the same function for all updates.
  private var write: ((borrowing Update, inout JSONWriter) -> Void)?
  /// A copy of `bytes`; nil if updates were added since.
  private var copy: BroadcastBuffer?
  /// The subscriptions of the store that do not use the buffer, stored so that the store does not
  /// search them at each change; nil if they have to be searched.
  var others: [Subscription]?
  private var subscribers: [Subscriber] = []
  private let turnOutcome: TurnOutcome
  /// True if the buffer is registered for the end of the turn.
  private var isTurnEndAwaited = false
  /// True while the buffer waits to be sent; set by the coalescer.
  public var isHeld = false
  /// Size of the updates that were sent the last time, in bytes; at most 64 KiB.
  private var usualBytes = 0

  // A subscription retains its session, which retains this buffer. The cycle ends because a client
  // leaves the buffer before it leaves the session (`Subscription.detach`).
  private struct Subscriber {
    let subscription: Subscription
    let client: ClientID
  }

  // From this size on, the buffer is sent when the turn ends. At twice this size the store starts
  // another buffer, so that the subscribers take the contents of this one.
  private static let dueBytes = 64 << 10

  /// True if the buffer has at least 64 KiB and should be sent without delay.
  public var isDue: Bool { bytes.count >= Self.dueBytes }
  /// True if the buffer has at least 128 KiB; the store then starts another one.
  var isFull: Bool { bytes.count >= 2 * Self.dueBytes }

  init(_ turnOutcome: TurnOutcome) { self.turnOutcome = turnOutcome }

  /// The place after the last update.
  public var end: Int { past + bytes.count }

  /// Returns the offset in `withBytes` of a place.
  ///
  /// - Precondition: The place has not been sent, or is the end of everything that was sent.
  public func offset(of place: Int) -> Int { place - past }

  /// Calls `body` with the updates that have not been sent, one after the other. `body` must not
  /// call the store.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withBytes(body)
  }

  /// The updates that have not been sent; the same object for all clients until an update is added.
  public var broadcastBuffer: BroadcastBuffer {
    if let copy { return copy }
    let buffer = BroadcastBuffer(bytes.bytes())
    copy = buffer
    return buffer
  }

  /// Returns the place at which an update begins, and writes the update if it is new.
  ///
  /// - Parameters:
  ///   - update: The current update.
  ///   - write: Writes the update and all later ones. The bytes must be the same for all clients.
  /// - Returns: The place; nil if the update was sent or discarded already.
  public func place(
    of update: borrowing Update,
    writing write: @escaping (borrowing Update, inout JSONWriter) -> Void
  ) -> Int? {
    // All subscribers may have taken the update and left since it was written.
    guard revision != update.revision else { return start < past ? nil : start }
    if bytes.count == 0 { bytes.reserve(likeLastTime: usualBytes) }
    start = end
    copy = nil
    write(update, &bytes)
    revision = update.revision
    self.write = write
    return start
  }

  /// Writes an update if the buffer has subscribers.
  func add(_ update: borrowing Update) {
    guard let write, hasSubscribers else { return }
    _ = place(of: update, writing: write)
    turnOutcome.metrics.updatesSent.add(subscribers.count)
  }
}

// MARK: - Subscribers

extension BroadcastUpdates {
  /// True while the buffer has subscribers.
  var hasSubscribers: Bool { !subscribers.isEmpty }

  /// Adds a subscription.
  ///
  /// - Returns: Its index. When the index changes later, `Subscription.moved` is called.
  func join(_ subscription: Subscription, of client: ClientID) -> Int {
    others = nil
    subscribers.append(Subscriber(subscription: subscription, client: client))
    return subscribers.count - 1
  }

  /// Removes the subscription at an index. The last subscription moves to that index.
  ///
  /// - Complexity: O(1).
  func leave(_ place: Int) {
    others = nil
    subscribers.swapAt(place, subscribers.count - 1)
    subscribers.removeLast()
    if place < subscribers.count { subscribers[place].subscription.moved(to: place) }
    if subscribers.isEmpty { forget() }
  }

  /// Discards all updates, because all subscribers have taken them.
  private func forget() {
    guard bytes.count > 0 else { return }
    past = end
    usualBytes = min(bytes.count, Self.dueBytes)
    bytes = JSONWriter()
    copy = nil
  }
}

extension BroadcastUpdates: TurnObserver {
  /// Registers the buffer for the end of the turn if it has subscribers.
  func awaitTurnEnd() {
    guard hasSubscribers, !isTurnEndAwaited else { return }
    isTurnEndAwaited = true
    turnOutcome.add(self)
  }

  /// Sends the updates, or delays them briefly.
  public func turnEnded() {
    isTurnEndAwaited = false
    if bytes.count > 0 { turnOutcome.sendOrDelay(self) }
  }
}

extension BroadcastUpdates: PendingBroadcast {
  /// Sends the updates to all subscribers.
  public func send() {
    guard bytes.count > 0 else { return }
    let end = end
    let notified = subscribers
    for index in notified.indices { turnOutcome.clients[notified[index].client]?.sendBroadcasts() }
    // If updates were added meanwhile, the buffer is sent again at the end of the turn.
    if self.end == end { forget() }
  }
}
