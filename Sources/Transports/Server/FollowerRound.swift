// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A peer that looks on, and is sent what it follows when the round ends.
protocol Follower: AnyObject {
  /// Sends what was held back; nothing is where it has gone out with something else.
  func sendHeld()
}

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
  /// Those with something that is held back.
  private var waiting: [any Follower] = []
  private var leaving: [any Follower] = []
  private var isEnding = false
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
  init(_ loop: any EventLoop, after answers: SendRound) {
    self.loop = loop
    self.answers = answers
  }

  /// Takes one more into the round, which begins with the first.
  func join(_ follower: any Follower) {
    waiting.append(follower)
    guard waiting.count == 1 else { return }
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

  /// Ends the round before its time.
  func endNow() { end(number) }

  /// Ends the round, and that of answers behind it: of what was hidden now nothing goes out when the answer
  /// says so.
  func endAheadOfAnswers() {
    guard !isEnding else { return }
    isEnding = true
    defer { isEnding = false }
    sendAll()
    answers.end()
  }

  /// Nobody is left to be sent anything. The loop may end, and what ends a round with it.
  func abandon() {
    number += 1
    waiting = []
  }

  private func end(_ number: Int) {
    // It may have ended before its time came; and a flush that fails hands over at once what its peer had
    // still sent, be it of an answer or of what is held back.
    guard number == self.number, !isEnding else { return }
    isEnding = true
    defer { isEnding = false }
    answers.end()
    sendAll()
  }

  private func sendAll() {
    guard !waiting.isEmpty else { return }
    number += 1
    let start = loop.now
    swap(&leaving, &waiting)
    for place in leaving.indices { leaving[place].sendHeld() }
    leaving.removeAll(keepingCapacity: true)
    let end = loop.now
    deadline = end + min((end - start) * Self.pause, Self.longestPause)
  }
}
