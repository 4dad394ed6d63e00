// SPDX-License-Identifier: Apache-2.0

/// Advances the virtual clock on which effects wait; only on a server that was started for tests.
///
/// Timers fire in order; the server waits before and after each one until no work is pending.
/// Updates that they cause in any store precede the response.
public enum TestAdvanceClock {
  /// The name of the method.
  public static let method: StaticString = "test/advanceClock"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Advances the virtual clock on which effects wait.", params: Params.self,
      errors: [.methodNotFound], isForTests: true)
  }

  /// The parameters of `test/advanceClock`.
  ///
  /// - Shape: `{"by": Number}`
  /// - Units: `by` in seconds.
  public struct Params: Codable, Sendable {
    /// The time by which the clock is advanced.
    public var by: Seconds
  }
}
