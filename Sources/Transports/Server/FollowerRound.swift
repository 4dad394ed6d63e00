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
/// hundreds of such peers. So in a stream the loop does other things for four times as long as it took last
/// to send to them all, and what comes meanwhile goes out in one write for each: a fifth of its
/// time is theirs. What comes after a rest goes out with the turn that it comes from.
final class FollowerRound {
  private let loop: any EventLoop
  /// Those with something that is held back.
  private var waiting: [any Follower] = []
  private var leaving: [any Follower] = []
  /// When they were last sent something.
  private var lastEnd = NIODeadline.uptimeNanoseconds(0)
  /// How long the next round takes, if it begins soon.
  private var pause = TimeAmount.zero
  /// What ends the round that goes on; nil where it ends with the turn.
  private var timer: Scheduled<Void>?

  /// - Parameter loop: Where all of it happens.
  init(_ loop: any EventLoop) { self.loop = loop }

  /// Takes one more into the round, which begins with the first.
  func join(_ follower: any Follower) {
    waiting.append(follower)
    guard waiting.count == 1 else { return }
    if loop.now - lastEnd > Self.rest { return endWithTurn() }
    let round = NIOLoopBound(self, eventLoop: loop)
    timer = loop.scheduleTask(in: pause) { round.value.end() }
  }

  /// The round ends with the turn: enough is held back.
  func hurry() {
    guard let timer else { return }
    timer.cancel()
    self.timer = nil
    endWithTurn()
  }

  private func endWithTurn() {
    let round = NIOLoopBound(self, eventLoop: loop)
    loop.execute { round.value.end() }
  }

  private func end() {
    timer = nil
    let start = loop.now
    swap(&leaving, &waiting)
    for place in leaving.indices { leaving[place].sendHeld() }
    leaving.removeAll(keepingCapacity: true)
    lastEnd = loop.now
    pause = min((lastEnd - start) * 4, Self.longestPause)
  }

  // A stream is more than a screen shows.
  private static let rest = TimeAmount.milliseconds(10)
  // As long as a turn may be (`TurnEnd.isLong`).
  private static let longestPause = TimeAmount.milliseconds(4)
}
