// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// Holds back for a moment what peers are sent that only look on, where it comes as a stream.
///
/// A write costs the system nearly as much for a few frames as for many, and a session may have
/// hundreds of such peers. So when they have been sent what there was, the loop does other things for ten
/// times as long as that took, `longestPause` at most, and what comes meanwhile goes out in one write for
/// each. What comes later is sent with the turn that it comes from. Whose frames they are does
/// not matter: it is the loop's time that is shared.
final class FollowerRound {
  private let loop: any EventLoop
  /// What goes out before: answers do not wait for those who look on.
  private let answers: SendRound
  /// Does something as a turn.
  private let turn: (() -> Void) -> Void
  /// Does something once all has been written that the turn in hand has given to outputs until now.
  private let whenDelivered: (@escaping () -> Void) -> Void
  private var waiting: [any HeldText] = []
  /// Until then they wait.
  private var deadline = NIODeadline.uptimeNanoseconds(0)
  /// Tells the round that goes on from those before.
  private var number = 0

  // So many times as long as sending to all has taken they wait.
  private static let pause: Int64 = 10
  // Less than a screen takes between two pictures.
  private static let longestPause = TimeAmount.milliseconds(10)

  /// - Parameters:
  ///   - loop: Where all of it happens.
  ///   - answers: What goes out before.
  ///   - turn: Does something as a turn of what the peers look on at.
  ///   - whenDelivered: Does something once all has been written that this turn has given to outputs until now.
  init(
    _ loop: any EventLoop, after answers: SendRound, turn: @escaping (() -> Void) -> Void,
    whenDelivered: @escaping (@escaping () -> Void) -> Void
  ) {
    self.loop = loop
    self.answers = answers
    self.turn = turn
    self.whenDelivered = whenDelivered
  }

  /// A turn ends with something to be sent: takes it into the round, which begins with the first.
  func join(_ text: any HeldText) {
    if !text.isHeld {
      text.isHeld = true
      waiting.append(text)
      if waiting.count == 1 { begin() }
    }
    // In the turn, so that no other makes it more.
    if text.isDue {
      whenDelivered { [answers] in answers.send() }
      sendAll()
    }
  }

  private func begin() {
    let round = NIOLoopBound(self, eventLoop: loop)
    let number = number
    if deadline <= loop.now {
      loop.execute { round.value.end(number) }
    } else {
      loop.scheduleTask(deadline: deadline) { round.value.end(number) }
    }
  }

  /// A peer is about to be worked for, which may take long: ends the round that is due.
  func willHear() {
    if !waiting.isEmpty, deadline <= loop.now { end(number) }
  }

  /// Ends the round before its time, between turns.
  func endNow() { end(number) }

  /// A turn ends that hides what was shown before: ends the round, and that of answers behind it, so that nothing
  /// of it goes out later.
  func endAheadOfAnswers() {
    sendAll()
    whenDelivered { [answers] in answers.send() }
  }

  /// Nobody is left to be sent anything. The loop may end, and what ends a round with it.
  func abandon() {
    number += 1
    for text in waiting { text.isHeld = false }
    waiting = []
  }

  private func end(_ number: Int) {
    // It may have ended before its time came.
    guard number == self.number else { return }
    answers.send()
    if !waiting.isEmpty { turn(sendAll) }
  }

  /// Sends what waits, in a turn.
  private func sendAll() {
    guard !waiting.isEmpty else { return }
    number += 1
    let start = loop.now
    let texts = waiting
    waiting = []
    for text in texts {
      text.isHeld = false
      text.send()
    }
    whenDelivered { [self] in
      let end = loop.now
      deadline = end + min((end - start) * Self.pause, Self.longestPause)
    }
  }
}
