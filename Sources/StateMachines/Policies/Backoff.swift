// SPDX-License-Identifier: Apache-2.0

/// The wait between attempts: it grows with each attempt, up to a limit.
///
/// - Units: the defaults give waits of 1, 2, 4, 8, 16, 30, 30 … seconds.
public struct Backoff: Hashable, Sendable {
  /// The wait before the second attempt.
  public var base: Duration
  /// The factor between two waits.
  public var factor: Double
  /// The longest wait.
  public var maximum: Duration

  /// Returns waits that grow by a factor.
  ///
  /// - Parameters:
  ///   - base: The wait before the second attempt.
  ///   - factor: The factor between two waits; not negative.
  ///   - maximum: The longest wait.
  public static func exponential(
    base: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(30)
  ) -> Backoff {
    Backoff(base: base, factor: factor, maximum: maximum)
  }

  /// Returns the same wait before each attempt.
  public static func constant(_ wait: Duration) -> Backoff {
    Backoff(base: wait, factor: 1, maximum: wait)
  }

  /// Returns the wait before an attempt, rounded to nanoseconds; zero before the first one.
  public func delay(before attempt: Int) -> Duration {
    guard attempt > 1 else { return .zero }
    var nanoseconds = base / .nanoseconds(1)
    let limit = maximum / .nanoseconds(1)
    var waits = attempt - 2
    while waits > 0, nanoseconds > 0, nanoseconds < limit, factor != 1 {
      nanoseconds *= factor
      waits -= 1
    }
    // Above the limit the number may be too large for a `Duration`.
    return nanoseconds < limit ? .nanoseconds(Int64(nanoseconds.rounded())) : maximum
  }
}

extension StoreClock {
  /// Calls `body` until it succeeds or the number of attempts is reached.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts in total; less than 1 counts as 1.
  ///   - backoff: The waits between attempts, on this clock.
  ///   - isFailure: Returns true for an outcome that needs another attempt.
  ///   - waiting: Called before each wait with the number of the next attempt, at first 2.
  ///   - body: One attempt; the first one has number 1.
  /// - Returns: The first outcome that is not a failure, or the last outcome. If the task is
  ///   cancelled, the outcome of the latest attempt.
  public func retry<Outcome>(
    attempts: Int, backoff: Backoff, when isFailure: (Outcome) -> Bool,
    waiting: (_ next: Int) async -> Void = { _ in },
    _ body: (_ attempt: Int) async -> Outcome
  ) async -> Outcome {
    var attempt = 1
    while true {
      let outcome = await body(attempt)
      guard attempt < attempts, !Task.isCancelled, isFailure(outcome) else { return outcome }
      attempt += 1
      await waiting(attempt)
      guard (try? await sleep(for: backoff.delay(before: attempt))) != nil else { return outcome }
    }
  }
}
