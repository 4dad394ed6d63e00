// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The time that stores see: a clock to wait on that knows the date too.
///
/// Nothing in the engine waits on another one, so whoever holds the clock holds the time.
public protocol StoreClock: Clock where Duration == Swift.Duration {
  /// How long this clock has run: never goes back, and means nothing beside another clock's.
  var uptime: Duration { get }
  /// The time of the calendar, since 1970-01-01T00:00:00Z; goes back when somebody sets it.
  ///
  /// - Source: POSIX `CLOCK_REALTIME`; leap seconds are not counted.
  var sinceEpoch: Duration { get }
  /// The longest wait for a time of the calendar before the calendar is read again, because it may be
  /// set meanwhile; nil where it cannot be set. By default one minute.
  ///
  /// A wait for an amount of time needs none of this: it sleeps on the clock and ignores the calendar.
  var calendarCheckInterval: Duration? { get }
}

extension StoreClock {
  public var calendarCheckInterval: Duration? { .seconds(60) }
}

/// The machine's own time.
public struct SystemClock: StoreClock {
  public typealias Instant = ContinuousClock.Instant

  private let clock = ContinuousClock()
  private let start = ContinuousClock.now
  private let longestPiece: Duration

  public init() { self.init(longestPiece: .seconds(20)) }

  /// - Parameter longestPiece: How long one sleep of the runtime's may be.
  init(longestPiece: Duration) { self.longestPiece = longestPiece }

  public var now: Instant { clock.now }
  public var minimumResolution: Duration { clock.minimumResolution }
  public var uptime: Duration { start.duration(to: clock.now) }

  public var sinceEpoch: Duration {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    // In pieces: the runtime keeps what a cancelled sleep takes until the time it was to end at, so
    // long sleeps that are often cancelled would pile up.
    repeat {
      let piece = min(deadline, clock.now.advanced(by: longestPiece))
      try await clock.sleep(until: piece, tolerance: tolerance)
    } while clock.now < deadline
  }
}
