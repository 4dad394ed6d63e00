// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// Holds the updates of passive subscribers briefly where they come as a stream.
///
/// A write costs the system nearly as much for a few updates as for many, and a session may have hundreds of passive
/// subscribers. So after a broadcast to all of them the loop does other things for ten times as long as the broadcast
/// took, `longestPause` at most, and the updates of that time are sent in one write for each. Updates after such a
/// pause are sent with their turn. It does not matter whose updates they are: it is the loop's time that is shared.
public final class BroadcastCoalescer {
  private let loop: any DeliveryLoop
  /// Sent before: responses do not wait for passive subscribers.
  private let writes: WriteCoalescer
  private let turn: (() -> Void) -> Void
  private let whenDelivered: (@escaping () -> Void) -> Void
  private var waiting: [any PendingBroadcast] = []
  /// Until then they wait.
  private var deadline: Int64 = 0
  /// Tells the pause in hand from those before.
  private var number = 0

  // The pause is so many times as long as sending to all has taken.
  private static let pause: Int64 = 10
  // 10 ms: less than the time between two frames of a screen.
  private static let longestPause: Int64 = 10_000_000

  /// - Parameters:
  ///   - loop: The loop of all outputs.
  ///   - writes: The coalescer of other writes.
  ///   - turn: Runs a body as a turn of the shard.
  ///   - whenDelivered: Calls a body once everything has been written that this turn has given to outputs until now.
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

  /// Holds the updates of a turn that ends; the first of them begins the pause.
  public func hold(_ text: any PendingBroadcast) {
    if !text.isHeld {
      text.isHeld = true
      waiting.append(text)
      if waiting.count == 1 { begin() }
    }
    // In the turn, so that no other makes it more.
    if text.isDue { sendInTurn(after: true) }
  }

  private func begin() {
    let number = number
    if deadline <= loop.uptime {
      loop.afterOthers { [self] in end(number) }
    } else {
      loop.at(deadline) { [self] in end(number) }
    }
  }

  /// A client is about to be served, which may take long: sends what is due.
  public func willServe() {
    if !waiting.isEmpty, deadline <= loop.uptime { end(number) }
  }

  /// Sends what is held before its time, between turns.
  public func sendNow() { end(number) }

  /// Sends what is held, and then other writes, at the end of a turn that hides what was shown before: nothing of it
  /// is sent later.
  public func sendBeforeOthers() { sendInTurn(after: false) }

  private func sendInTurn(after others: Bool) {
    if !others { sendAll() }
    whenDelivered { [writes] in writes.send() }
    if others { sendAll() }
  }

  /// Releases what is held: no client is left to receive it. The loop may end, and with it what ends a pause.
  public func abandon() {
    number += 1
    for text in waiting { text.isHeld = false }
    waiting = []
  }

  private func end(_ number: Int) {
    // The pause may have ended before its time came.
    guard number == self.number else { return }
    writes.send()
    if !waiting.isEmpty { turn(sendAll) }
  }

  /// Sends what is held, in a turn.
  private func sendAll() {
    guard !waiting.isEmpty else { return }
    number += 1
    let start = loop.uptime
    let texts = waiting
    waiting = []
    for text in texts {
      text.isHeld = false
      text.send()
    }
    whenDelivered { [self] in
      let end = loop.uptime
      deadline = end + min((end - start) * Self.pause, Self.longestPause)
    }
  }
}
