// SPDX-License-Identifier: Apache-2.0

/// A clock that stands still until it is told to go on.
///
/// Sleepers are woken in the order of their deadlines; those of one deadline in the order they came.
public final class ManualClock: StoreClock, Sendable {
  /// A time on this clock.
  public struct Instant: InstantProtocol {
    /// How long after the clock was made.
    public let offset: Duration

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  private struct Sleeper {
    let number: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Sleeper] = []
    var lastNumber = 0
    /// Sleeps that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  private let state = Lock(State())

  private let start: Duration

  /// - Parameter start: What the calendar says when the clock is made, since 1970-01-01T00:00:00Z.
  public init(start: Duration = .zero) { self.start = start }

  public var uptime: Duration { now.offset }
  public var sinceEpoch: Duration { start + now.offset }
  public var calendarCheckInterval: Duration? { nil }
  public var now: Instant { state.withLock { $0.now } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many tasks are waiting on this clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The next time at which somebody is woken.
  public var nextDeadline: Instant? {
    state.withLock { $0.sleepers.map(\.deadline).min() }
  }

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
            Sleeper(number: number, deadline: deadline, continuation: continuation))
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

  /// Sets the time to that of the first sleeper and wakes it alone, without waiting for what it does
  /// then.
  ///
  /// - Returns: Whether there was one that is due at `instant` or before.
  public func wakeFirst(notAfter instant: Instant) -> Bool {
    let first = state.withLock { state -> Sleeper? in
      let first = state.sleepers.indices.min {
        let (one, other) = (state.sleepers[$0], state.sleepers[$1])
        return (one.deadline, one.number) < (other.deadline, other.number)
      }
      guard let first, state.sleepers[first].deadline <= instant else { return nil }
      let sleeper = state.sleepers.remove(at: first)
      state.now = max(state.now, sleeper.deadline)
      return sleeper
    }
    first?.continuation.resume()
    return first != nil
  }

  /// Sets the time and wakes whoever is due, without waiting for what they do then.
  /// - Precondition: `instant` is not in the past.
  public func advance(to instant: Instant) {
    let due = state.withLock { state in
      precondition(instant >= state.now, "time does not run backwards")
      state.now = instant
      let due = state.sleepers.filter { $0.deadline <= instant }
        .sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
      state.sleepers.removeAll { $0.deadline <= instant }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
