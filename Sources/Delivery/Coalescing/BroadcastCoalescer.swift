// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// Delays the updates of passive subscribers while they are frequent, so that several updates share
/// one write.
///
/// A write of a few updates costs the system nearly as much as a write of many, and a session can
/// have hundreds of passive subscribers. Therefore, after a broadcast to all of them, the loop does
/// other work for ten times as long as the broadcast took, at most 10 ms, and then sends the
/// updates of that time in one write per subscriber. An update after the end of the pause is sent
/// when the loop has handled the available events. The pause is common to all stores, because they
/// share the loop's time.
public final class BroadcastCoalescer {
  private let loop: any DeliveryLoop
  /// The coalescer of other writes, which are sent first: responses do not wait for passive
  /// subscribers.
  private let writes: WriteCoalescer
  private let turn: (() -> Void) -> Void
  private let whenDelivered: (@escaping () -> Void) -> Void
  private var waiting: [any PendingBroadcast] = []
  /// The end of the pause, by the loop's `uptime`.
  private var deadline: Int64 = 0
  /// The number of the current pause.
  private var number = 0

  // The length of the pause, as a multiple of the duration of the last broadcast.
  private static let pause: Int64 = 10
  // 10 ms: shorter than the time between two frames of a screen.
  private static let longestPause: Int64 = 10_000_000

  /// Creates a coalescer.
  ///
  /// - Parameters:
  ///   - loop: The loop of all outputs.
  ///   - writes: The coalescer of other writes.
  ///   - turn: Runs a body as a turn of the shard.
  ///   - whenDelivered: Calls a body after everything has been written that the current turn has
  ///     passed to outputs until now.
  public init(
    _ loop: any DeliveryLoop, after writes: WriteCoalescer,
    turn: @escaping (() -> Void) -> Void,
    whenDelivered: @escaping (@escaping () -> Void) -> Void
  ) {
    self.loop = loop
    self.writes = writes
    self.turn = turn
    self.whenDelivered = whenDelivered
  }

  /// Delays the updates of a turn that ends. The first delayed updates schedule the next send: at
  /// the end of the pause, or after the available events if the pause is over.
  public func hold(_ broadcast: any PendingBroadcast) {
    if !broadcast.isHeld {
      broadcast.isHeld = true
      waiting.append(broadcast)
      if waiting.count == 1 { begin() }
    }
    // Sent in this turn, so that no other turn appends to it.
    if broadcast.isDue { sendInTurn(after: true) }
  }

  private func begin() {
    let number = number
    if deadline <= loop.uptime {
      loop.afterOthers { [self] in end(number) }
    } else {
      loop.at(deadline) { [self] in end(number) }
    }
  }

  /// Sends the delayed updates if the pause is over. It is called before a client is served, which
  /// can take long.
  public func willServe() {
    if !waiting.isEmpty, deadline <= loop.uptime { end(number) }
  }

  /// Sends the delayed updates before the end of the pause, between turns.
  public func sendNow() { end(number) }

  /// Sends the delayed updates and then other writes, at the end of a turn with a redaction, so
  /// that nothing that it hides is sent later.
  public func sendBeforeOthers() { sendInTurn(after: false) }

  private func sendInTurn(after others: Bool) {
    if !others { sendAll() }
    whenDelivered { [writes] in writes.send() }
    if others { sendAll() }
  }

  /// Discards the delayed updates when no client is left. The loop may end before the pause does.
  public func abandon() {
    number += 1
    for broadcast in waiting { broadcast.isHeld = false }
    waiting = []
  }

  private func end(_ number: Int) {
    // The updates may have been sent before the end of the pause.
    guard number == self.number else { return }
    writes.send()
    if !waiting.isEmpty { turn(sendAll) }
  }

  /// Sends the delayed updates, in a turn.
  private func sendAll() {
    guard !waiting.isEmpty else { return }
    number += 1
    let start = loop.uptime
    let broadcasts = waiting
    waiting = []
    for broadcast in broadcasts {
      broadcast.isHeld = false
      broadcast.send()
    }
    whenDelivered { [self] in
      let end = loop.uptime
      deadline = end + min((end - start) * Self.pause, Self.longestPause)
    }
  }
}
