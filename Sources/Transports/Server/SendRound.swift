// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A peer that has been written to, and is sent it when the round ends.
protocol RoundMember: AnyObject {
  func endRound()
}

/// The connections that the event loop hears between two looks at its sockets.
///
/// What they have written is held back until the loop has heard others too: the write that finds a peer asleep
/// wakes it, which costs as much as several inputs; those that follow at once find it awake. It is sent when the
/// round ends, before the loop turns to more than `heardBytes`, or to another when the first has waited for `time`,
/// or when `size` wait.
final class SendRound {
  private let loop: any EventLoop
  private let writing: (() -> Void) -> Void
  private let now: @Sendable () -> ContinuousClock.Instant
  /// When the round began that goes on.
  private var began: ContinuousClock.Instant?
  /// Those with something that has been written and not sent.
  private var waiting: [any RoundMember] = []
  private var heard = 0
  private var start = NIODeadline.uptimeNanoseconds(0)

  /// - Parameters:
  ///   - loop: Where all of it happens.
  ///   - writing: Runs what writes to channels; what these call back waits until it is over.
  ///   - now: The time by which rounds are long.
  init(
    _ loop: any EventLoop, writing: @escaping (() -> Void) -> Void = { $0() },
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.loop = loop
    self.writing = writing
    self.now = now
  }

  /// Whether the round has lasted for so long that connections which take much time should wait for others.
  var isLong: Bool { began.map { now() - $0 > Self.longRound } ?? false }

  private func begin() {
    guard began == nil else { return }
    began = now()
    let round = NIOLoopBound(self, eventLoop: loop)
    // Behind all that has been heard until now.
    loop.execute { round.value.end() }
  }

  private func end() {
    began = nil
    send()
  }

  /// Takes one more into the round.
  func join(_ member: any RoundMember) {
    begin()
    waiting.append(member)
    switch waiting.count {
    case 1: start = loop.now
    case Self.size: send()
    default: break
    }
  }

  /// So many bytes of a peer are about to be worked on.
  func willHear(_ byteCount: Int) {
    begin()
    guard !waiting.isEmpty else { return }
    heard += byteCount
    if heard > Self.heardBytes || loop.now - start > Self.time { send() }
  }

  /// Sends what waits.
  func send() {
    guard !waiting.isEmpty else { return }
    heard = 0
    let members = waiting
    waiting.removeAll(keepingCapacity: true)
    writing { for member in members { member.endRound() } }
  }

  // Those whose answers wait should not wait for more work than this. A few bytes can ask for much,
  // which nobody knows before.
  private static let heardBytes = 32 << 10
  private static let time = TimeAmount.milliseconds(1)
  private static let size = 64
  private static let longRound = Duration.milliseconds(2)
}
