// SPDX-License-Identifier: Apache-2.0

/// A virtual clock: its time changes only when `advance(to:)` or `wakeFirst(notAfter:)` is called.
///
/// Sleepers wake in the order of their deadlines. Of those with the same deadline, sleepers without
/// a tolerance wake first, and otherwise those that began to sleep first.
public final class ManualClock: StoreClock, Sendable {
  /// A time on this clock.
  public struct Instant: InstantProtocol {
    /// The time since the clock was created.
    public let offset: Duration

    /// Returns the instant that is `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// Returns the time from this instant to another one.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Compares two instants of the same clock.
    public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  private struct Sleeper {
    let number: Int
    let deadline: Instant
    let isTolerant: Bool
    let continuation: CheckedContinuation<Void, any Error>

    func wakes(before other: Sleeper) -> Bool {
      (deadline, isTolerant ? 1 : 0, number)
        < (other.deadline, other.isTolerant ? 1 : 0, other.number)
    }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Sleeper] = []
    var lastNumber = 0
    /// The numbers of sleeps that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  private let state = Lock(State())

  private let start: Duration

  /// Creates a clock with an uptime of zero.
  ///
  /// - Parameter start: The calendar time at which the clock is created, since
  ///   1970-01-01T00:00:00Z.
  public init(start: Duration = .zero) { self.start = start }

  /// The time by which the clock was advanced since it was created.
  public var uptime: Duration { now.offset }
  /// The calendar time since 1970-01-01T00:00:00Z: `start` plus the uptime.
  public var sinceEpoch: Duration { start + now.offset }
  /// Nil: the calendar of this clock cannot be set.
  public var calendarCheckInterval: Duration? { nil }
  /// The current time.
  public var now: Instant { state.withLock { $0.now } }
  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of tasks that sleep on this clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The earliest deadline of all sleepers; nil if no task sleeps.
  public var nextDeadline: Instant? {
    state.withLock { $0.sleepers.map(\.deadline).min() }
  }

  /// Suspends the task until the clock reaches `deadline`.
  ///
  /// - Parameters:
  ///   - deadline: The time to wake at.
  ///   - tolerance: A sleeper with a tolerance greater than zero wakes at its deadline too, but
  ///     after all others with this deadline.
  /// - Throws: `CancellationError` if the task is cancelled before.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled: Bool? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          if deadline <= state.now { return false }
          state.sleepers.append(
            Sleeper(
              number: number, deadline: deadline, isTolerant: tolerance ?? .zero > .zero,
              continuation: continuation))
          return nil
        }
        switch isCancelled {
        case true?: continuation.resume(throwing: CancellationError())
        case false?: continuation.resume()
        case nil: break
        }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  /// Advances the time to the deadline of the first sleeper and wakes only this sleeper.
  ///
  /// Does not wait for what the sleeper then does.
  ///
  /// - Returns: True if a sleeper was woken; false if no deadline is at or before `instant`.
  public func wakeFirst(notAfter instant: Instant) -> Bool {
    let first = state.withLock { state -> Sleeper? in
      let first = state.sleepers.indices.min {
        state.sleepers[$0].wakes(before: state.sleepers[$1])
      }
      guard let first, state.sleepers[first].deadline <= instant else { return nil }
      let sleeper = state.sleepers.remove(at: first)
      state.now = max(state.now, sleeper.deadline)
      return sleeper
    }
    first?.continuation.resume()
    return first != nil
  }

  /// Sets the time and wakes all sleepers that are due.
  ///
  /// Does not wait for what the sleepers then do.
  ///
  /// - Precondition: `instant` is not before the current time.
  public func advance(to instant: Instant) {
    let due = state.withLock { state in
      precondition(instant >= state.now, "cannot set the clock to a time before the current one")
      state.now = instant
      let due = state.sleepers.filter { $0.deadline <= instant }
        .sorted { $0.wakes(before: $1) }
      state.sleepers.removeAll { $0.deadline <= instant }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
