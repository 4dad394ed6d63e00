// SPDX-License-Identifier: Apache-2.0

/// Moves the clock that effects wait on; only where the server was started for tests.
///
/// Timers fire in order, and all work rests before and after each. What they cause in any store
/// comes before the answer.
public enum TestAdvanceClock {
  public static let method: StaticString = "test/advanceClock"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Moves the clock that effects wait on.", params: Params.self,
      errors: [.methodNotFound, .requestCancelled], isForTests: true)
  }

  /// - Shape: `{"by": Number}`
  /// - Units: `by` in seconds.
  public struct Params: Codable, Sendable {
    public var by: Seconds
  }
}
