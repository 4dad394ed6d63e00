// SPDX-License-Identifier: Apache-2.0

/// A time that the test moves, and that can pass by itself whenever something looks at it.
public final class TestTime: Sendable {
  private struct State {
    var instant = ContinuousClock.now
    var step: Duration
    var looks = 0
  }

  private let state: Watched<State>

  /// - Parameter step: What passes with each look.
  public init(_ step: Duration = .zero) { state = Watched(State(step: step)) }

  /// How often something has looked.
  public var looks: Int { state.withLock { $0.looks } }

  /// Lets some time pass, as if something had taken so long.
  public func pass(_ duration: Duration) { state.withLock { $0.instant += duration } }

  /// Changes what passes with each look.
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
