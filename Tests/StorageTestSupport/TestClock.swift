// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A clock that moves only when a test advances it.
public final class TestClock: Clock {
  public struct Instant: InstantProtocol {
    public var offset = Duration.zero

    public init(offset: Duration = .zero) { self.offset = offset }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  private typealias Sleeper = CheckedContinuation<Void, any Error>

  private struct State {
    var now = Instant()
    var last = 0
    var sleepers: [Int: (until: Instant, sleeper: Sleeper)] = [:]
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  public init() {}

  public var now: Instant { state.withLock { $0.now } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of sleeping tasks.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
        let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
          guard !Task.isCancelled, state.now < deadline else { return nil }
          state.sleepers[number] = (deadline, sleeper)
          defer { state.watchers = [] }
          return state.watchers
        }
        if let watchers {
          for watcher in watchers { watcher.resume() }
        } else {
          sleeper.resume(with: Result { try Task.checkCancellation() })
        }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number)?.sleeper }
      sleeper?.resume(throwing: CancellationError())
    }
  }

  /// Returns when a task sleeps on this clock.
  public func waitForSleeper() async {
    await withCheckedContinuation { continuation in
      let sleeps = state.withLock { state in
        if state.sleepers.isEmpty { state.watchers.append(continuation) }
        return !state.sleepers.isEmpty
      }
      if sleeps { continuation.resume() }
    }
  }

  /// Advances the time and wakes the tasks whose deadline has passed.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.until <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.sleeper)
    }
    for sleeper in due { sleeper.resume() }
  }
}
