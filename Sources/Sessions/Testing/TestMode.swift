// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The controls of a shard under test: a virtual clock, fault injection and an idle tracker.
///
/// The calendar of each session starts at `start` when the session begins, so that the same
/// conversation always has the same output.
public final class TestMode {
  /// 2021-06-02T11:01:48Z, since 1970.
  public static let start = Duration.seconds(1_622_631_708)

  let settings: TestSettings
  let clock = ManualClock()
  /// The generator of session handles, which are the same in each process.
  let generator = FixedNumbers()
  let tracker: IdleTracker
  /// Observers, usually connections with messages that came while the server was busy.
  private var waiting: [Waiting] = []
  private var advances: [Advance] = []
  /// Connections that are dropped when an operation meets `Fault.dropConnection`.
  private var drops: [(faults: Faults, drop: () -> Void)] = []

  // Weak, because an observer that was deallocated needs no notification.
  private struct Waiting {
    weak var observer: (any IdleObserver)?
  }

  private struct Advance {
    var duration: Duration
    let done: () -> Void
  }

  init(tracker: IdleTracker, _ settings: TestSettings) {
    (self.tracker, self.settings) = (tracker, settings)
  }

  /// True if a new message has to wait until the server is idle.
  public var isBusy: Bool { tracker.isBusy || !advances.isEmpty }

  /// Notifies an observer once when the server is idle, after the observers that wait already. The
  /// later ones wait until the work of this one has ended, too. Does nothing if it waits already.
  public func whenIdle(_ observer: any IdleObserver) {
    guard !waiting.contains(where: { $0.observer === observer }) else { return }
    waiting.append(Waiting(observer: observer))
  }

  /// Calls `drop` when an operation meets `Fault.dropConnection`.
  public func whenDropped(by faults: Faults, _ drop: @escaping () -> Void) {
    drops.append((faults, drop))
  }

  /// Drops the connections whose injected fault was met.
  public func checkDrops() {
    for index in drops.indices.reversed() where drops[index].faults.takeDrops() > 0 {
      drops.remove(at: index).drop()
    }
  }

  /// Advances the clock. Sleeps end in the order of their deadlines, each after the server is idle.
  ///
  /// - Parameters:
  ///   - duration: The duration by which the clock advances.
  ///   - done: Called when the clock has the new time and the server is idle.
  public func advance(by duration: Duration, _ done: @escaping () -> Void) {
    advances.append(Advance(duration: duration, done: done))
    // Starts the advance also if the server is idle already.
    tracker.checkIdle()
  }

  /// Ends all advances of the clock where they are.
  func cancelAdvances() { advances = [] }

  /// Returns the clock of a new session.
  func sessionClock() -> any StoreClock {
    SessionClock(clock: clock, start: settings.start, beginning: clock.uptime)
  }

  /// Performs the next steps that require an idle server.
  func performNext(_ shard: isolated Shard) {
    while true {
      // Work that waits for the end of a turn begins first, because it makes the server busy.
      shard.turnOutcome.beginDelayedWork()
      guard !tracker.isBusy else { return }
      checkDrops()
      if let advance = advances.first {
        performNext(advance, shard)
      } else if !waiting.isEmpty {
        waiting.removeFirst().observer?.becameIdle(isolation: shard)
      } else {
        return
      }
    }
  }

  private func performNext(_ advance: Advance, _ shard: isolated Shard) {
    let target = clock.now.advanced(by: advance.duration)
    // Sessions expire at their time during an advance.
    let expiry = shard.directory.nextDeadline().map { clock.now.advanced(by: $0 - clock.uptime) }
    // One that is due already must not set the clock back.
    let next = max(clock.now, min(target, expiry ?? target))
    // One sleep at a time, also of several with the same deadline: the results of work that they
    // start on other threads, for example in a database, would otherwise come back in any order.
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

/// The settings of a shard under test.
struct TestSettings {
  /// The calendar time at which each session begins, since 1970.
  var start = TestMode.start
  /// The fault of work that needs more than the store and its clock; nil to carry it out.
  var outside: Fault?
  /// True if the shard is not idle while an exchange has not ended.
  var waitsForExchanges = false
}

/// An object that waits until a server under test is idle.
public protocol IdleObserver: AnyObject {
  /// Handles the idle server. The observer is registered for one call; it registers again for the
  /// next one.
  func becameIdle(isolation shard: isolated Shard)
}

/// A random number generator with the same numbers for the same seed.
///
/// - Source: SplitMix64, https://prng.di.unimi.it/splitmix64.c
public struct FixedNumbers: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator.
  ///
  /// - Parameter seed: The initial state, which determines the numbers.
  public init(seed: UInt64 = 0) { state = seed }

  /// Returns the next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}

/// The virtual clock with a calendar that starts at the beginning of the session.
private struct SessionClock: StoreClock {
  let clock: ManualClock
  let start: Duration
  let beginning: Duration

  var now: ManualClock.Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }
  var uptime: Duration { clock.uptime - beginning }
  var sinceEpoch: Duration { start + uptime }
  var calendarCheckInterval: Duration? { clock.calendarCheckInterval }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await clock.sleep(until: deadline, tolerance: tolerance)
  }
}
