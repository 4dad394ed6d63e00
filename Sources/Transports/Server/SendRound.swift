// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A peer that has been written to, and is sent it when the round ends.
protocol RoundMember: AnyObject {
  func endRound()
}

/// Holds back what connections have written until the event loop has heard others too.
///
/// The write that finds a peer asleep wakes it, which costs as much as several inputs; those that
/// follow at once find it awake. A round ends when the loop has heard all that have sent something, or
/// before it turns to more than `heardBytes` of theirs, or to another when it has lasted for `time`, or
/// when `size` wait.
final class SendRound {
  private let loop: any EventLoop
  /// Those with something that has been written and not sent.
  private var waiting: [any RoundMember] = []
  private var leaving: [any RoundMember] = []
  private var heard = 0
  private var start = NIODeadline.uptimeNanoseconds(0)

  /// - Parameter loop: Where all of it happens.
  init(_ loop: any EventLoop) { self.loop = loop }

  /// Takes one more into the round, which begins with the first.
  func join(_ member: any RoundMember) {
    waiting.append(member)
    switch waiting.count {
    case 1:
      start = loop.now
      let round = NIOLoopBound(self, eventLoop: loop)
      loop.execute { round.value.end() }
    case Self.size: end()
    default: break
    }
  }

  /// So many bytes of a peer are about to be worked on.
  func willHear(_ byteCount: Int) {
    guard !waiting.isEmpty else { return }
    heard += byteCount
    if heard > Self.heardBytes || loop.now - start > Self.time { end() }
  }

  /// Sends it all.
  func end() {
    // A flush that fails hands over at once what its peer had still sent, which may end a round: the walk
    // that goes on sees to whoever has joined meanwhile.
    guard leaving.isEmpty else { return }
    while !waiting.isEmpty {
      heard = 0
      swap(&leaving, &waiting)
      for place in leaving.indices { leaving[place].endRound() }
      leaving.removeAll(keepingCapacity: true)
    }
  }

  // Those whose answers wait should not wait for more work than this. A few bytes can ask for much,
  // which nobody knows before.
  private static let heardBytes = 32 << 10
  private static let time = TimeAmount.milliseconds(1)
  private static let size = 64
}
