// SPDX-License-Identifier: Apache-2.0

/// How long to wait before trying again: longer each time, up to a limit.
///
/// - Units: for the defaults 1, 2, 4, 8, 16, 30, 30 … seconds.
public struct Backoff: Hashable, Sendable {
  /// The wait before the second attempt.
  public var base: Duration
  /// How many times longer each further wait is.
  public var factor: Double
  /// The longest wait.
  public var maximum: Duration

  /// - Parameters:
  ///   - base: The wait before the second attempt.
  ///   - factor: How many times longer each further wait is; not negative.
  ///   - maximum: The longest wait.
  public static func exponential(
    base: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(30)
  ) -> Backoff {
    Backoff(base: base, factor: factor, maximum: maximum)
  }

  /// The same wait before every attempt.
  public static func constant(_ wait: Duration) -> Backoff {
    Backoff(base: wait, factor: 1, maximum: wait)
  }

  /// The wait before an attempt, to nanoseconds; none before the first one.
  public func delay(before attempt: Int) -> Duration {
    guard attempt > 1 else { return .zero }
    var nanoseconds = base / .nanoseconds(1)
    let limit = maximum / .nanoseconds(1)
    var waits = attempt - 2
    while waits > 0, nanoseconds > 0, nanoseconds < limit, factor != 1 {
      nanoseconds *= factor
      waits -= 1
    }
    // Past the limit the number may be too large for a time.
    return nanoseconds < limit ? .nanoseconds(Int64(nanoseconds.rounded())) : maximum
  }
}

extension StoreClock {
  /// Carries something out until it succeeds or has been tried often enough.
  ///
  /// - Parameters:
  ///   - attempts: How often in all; less than 1 counts as 1.
  ///   - backoff: How long to wait between attempts, on this clock.
  ///   - isFailure: Whether an outcome asks for another attempt.
  ///   - waiting: Called before each wait with the number of the attempt after it, 2 at first.
  ///   - body: One attempt; the first one has number 1.
  /// - Returns: The first outcome that is no failure, or the last one; whatever there is once the
  ///   task is cancelled.
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
