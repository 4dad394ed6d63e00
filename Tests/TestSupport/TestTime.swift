// SPDX-License-Identifier: Apache-2.0

/// A clock that a test advances, and that can also advance by a step at each reading.
public final class TestTime: Sendable {
  private struct State {
    var instant = ContinuousClock.now
    var step: Duration
    var looks = 0
  }

  private let state: Watched<State>

  /// Creates a clock.
  ///
  /// - Parameter step: The time by which the clock advances at each reading.
  public init(_ step: Duration = .zero) { state = Watched(State(step: step)) }

  /// The number of readings.
  public var looks: Int { state.withLock { $0.looks } }

  /// Advances the clock, to simulate an operation that takes this long.
  public func pass(_ duration: Duration) { state.withLock { $0.instant += duration } }

  /// Changes the time by which the clock advances at each reading.
  public func step(by duration: Duration) { state.withLock { $0.step = duration } }

  @Sendable
  public func now() -> ContinuousClock.Instant {
    state.withLock { state in
      state.looks += 1
      state.instant += state.step
      return state.instant
    }
  }
}
