// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The clock of a store environment: effects sleep on it, and it knows the calendar time.
///
/// The engine sleeps on no other clock. A test that controls this clock controls all waits.
public protocol StoreClock: Clock where Duration == Swift.Duration {
  /// The time that this clock has run. It never decreases, and it cannot be compared with the
  /// uptime of another clock.
  var uptime: Duration { get }
  /// The calendar time since 1970-01-01T00:00:00Z. It decreases when the system time is set back.
  ///
  /// - Source: POSIX `CLOCK_REALTIME`; leap seconds are not counted.
  var sinceEpoch: Duration { get }
  /// The longest time to wait for a calendar time before the calendar is read again, because it may
  /// be set meanwhile; nil if it cannot be set. The default is one minute.
  ///
  /// A wait for a duration does not need this: it sleeps on the clock and ignores the calendar.
  var calendarCheckInterval: Duration? { get }
}

extension StoreClock {
  /// One minute.
  public var calendarCheckInterval: Duration? { .seconds(60) }
}

/// The clock of the computer.
public struct SystemClock: StoreClock {
  /// An instant of the continuous clock.
  public typealias Instant = ContinuousClock.Instant

  private let clock = ContinuousClock()
  private let start = ContinuousClock.now
  private let longestSleep: Duration

  /// Creates a clock with an uptime of zero.
  public init() { self.init(longestSleep: .seconds(20)) }

  /// Creates a clock with another limit for single sleeps.
  ///
  /// - Parameter longestSleep: The longest single sleep of the Swift runtime.
  init(longestSleep: Duration) { self.longestSleep = longestSleep }

  /// The current time.
  public var now: Instant { clock.now }
  /// The resolution of the continuous clock.
  public var minimumResolution: Duration { clock.minimumResolution }
  /// The time since this value was created.
  public var uptime: Duration { start.duration(to: clock.now) }

  /// The time of `CLOCK_REALTIME`, since 1970-01-01T00:00:00Z.
  public var sinceEpoch: Duration {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  /// Suspends the task until the clock reaches `deadline`.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    // Sleeps in pieces: the runtime keeps the memory of a cancelled sleep until its original
    // deadline, so long sleeps that are often cancelled would accumulate.
    repeat {
      let piece = min(deadline, clock.now.advanced(by: longestSleep))
      try await clock.sleep(until: piece, tolerance: tolerance)
    } while clock.now < deadline
  }
}
