// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// What makes a shard one that tests can play with: a clock that they move, faults that they
/// inject, and the knowledge of when all work rests.
///
/// Each session's calendar starts at `start` when the session begins, so that the same conversation
/// gives the same bytes whenever it is held.
public final class TestMode {
  /// 2021-06-02T11:01:48Z.
  public static let start = Duration.seconds(1_622_631_708)

  let clock = ManualClock()
  /// Handles of sessions are the same every time.
  let generator = FixedNumbers()
  let rest: IdleTracker
  /// Connections with messages that came while work went on.
  private var waiting: [Waiting] = []
  private var advances: [Advance] = []
  /// Connections that are dropped when a call meets the fault they have injected.
  private var drops: [(faults: Faults, drop: () -> Void)] = []

  // Weak: one that is gone before its turn has nothing left to be told.
  private struct Waiting {
    weak var observer: (any IdleObserver)?
  }

  private struct Advance {
    var duration: Duration
    let done: () -> Void
  }

  init(rest: IdleTracker) { self.rest = rest }

  /// Whether what comes now has to wait until all work rests.
  public var isBusy: Bool { rest.isBusy || !advances.isEmpty }

  /// Tells an observer once all work rests, after those that wait already; what it sets off then
  /// keeps the next ones waiting.
  public func whenResting(_ observer: any IdleObserver) {
    waiting.append(Waiting(observer: observer))
  }

  /// Calls `drop` when a call meets `Fault.dropConnection`.
  public func whenDropped(by faults: Faults, _ drop: @escaping () -> Void) {
    drops.append((faults, drop))
  }

  /// Drops the connections whose fault has been met.
  public func checkDrops() {
    for index in drops.indices.reversed() where drops[index].faults.takeDrops() > 0 {
      drops.remove(at: index).drop()
    }
  }

  /// Moves the clock, waking what is due in order, each after the work before it rests.
  ///
  /// - Parameters:
  ///   - duration: How far.
  ///   - done: Called when the clock has arrived and all work rests.
  public func advance(by duration: Duration, _ done: @escaping () -> Void) {
    advances.append(Advance(duration: duration, done: done))
    // Also where no work is left whose end could set it off.
    rest.nudge()
  }

  /// A session's view of the clock.
  func sessionClock() -> any StoreClock { SessionClock(clock: clock, beginning: clock.uptime) }

  /// Does what can be done while all work rests.
  func goOn(_ shard: isolated Shard) {
    while true {
      // What a turn has set off is not at rest because it has yet to begin.
      shard.turnOutcome.beginHeld()
      guard !rest.isBusy else { return }
      checkDrops()
      if let advance = advances.first {
        goOn(advance, shard)
      } else if !waiting.isEmpty {
        waiting.removeFirst().observer?.rested(isolation: shard)
      } else {
        return
      }
    }
  }

  private func goOn(_ advance: Advance, _ shard: isolated Shard) {
    let target = clock.now.advanced(by: advance.duration)
    // Sessions expire in their turn too.
    let expiry = shard.directory.nextDeadline().map { clock.now.advanced(by: $0 - clock.uptime) }
    let next = min(target, expiry ?? target)
    // One at a time, also of those that are due together: what they set off outside, in a database
    // say, would otherwise come back in any order.
    if clock.wakeFirst(notAfter: next) {
      advances[0].duration = clock.now.duration(to: target)
    } else if next < target {
      clock.advance(to: next)
      shard.expireSessions()
      advances[0].duration = clock.now.duration(to: target)
    } else {
      clock.advance(to: target)
      shard.expireSessions()
      advances.removeFirst()
      advance.done()
    }
  }
}

/// Something that has to wait until all work rests.
public protocol IdleObserver: AnyObject {
  /// All work rests; it is added again for the next time, if at all.
  func rested(isolation shard: isolated Shard)
}

/// Numbers that are the same every time with the same seed.
///
/// - Source: SplitMix64, https://prng.di.unimi.it/splitmix64.c
public struct FixedNumbers: RandomNumberGenerator {
  private var state: UInt64

  /// - Parameter seed: Which numbers.
  public init(seed: UInt64 = 0) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}

/// The clock of a server under test, with a calendar that starts with the session.
private struct SessionClock: StoreClock {
  let clock: ManualClock
  let beginning: Duration

  var now: ManualClock.Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }
  var uptime: Duration { clock.uptime - beginning }
  var sinceEpoch: Duration { TestMode.start + uptime }
  var calendarCheckInterval: Duration? { clock.calendarCheckInterval }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline, tolerance: tolerance)
  }
}
