// SPDX-License-Identifier: Apache-2.0

/// A description of how a value is loaded: a tree of policies around sources.
///
/// - Shape: `{"type": node, …}`, with the case as the type and its labels as members; `of` is
///   another node, or an array of nodes for `all` and `sequence`. Unknown members of a node are
///   ignored.
/// - Units: times are JSON numbers of seconds, see `Seconds`.
public indirect enum LoaderConfiguration: Hashable, Sendable {
  /// A source that the operator registered under a name.
  case source(name: String)
  /// Plays states in order; the last one is the outcome if it is a value or a failure.
  case mock(states: [MockState])
  /// Delays loading until no load was requested for an interval (default 0.3 seconds).
  case debounce(interval: Duration, executeFirstImmediately: Bool = false, of: LoaderConfiguration)
  /// Loads again after a failure, at most `maxAttempts` times in total.
  case retry(maxAttempts: Int, backoff: RetryBackoff = RetryBackoff(), of: LoaderConfiguration)
  /// Fails if loading takes longer than an interval.
  case timeout(interval: Duration, of: LoaderConfiguration)
  /// Caches a loaded value for a time, under a key that all loaders of the session share.
  case cache(key: String, ttl: Duration, of: LoaderConfiguration)
  /// Waits until fewer than `limit` other loads run.
  case concurrencyLimit(limit: Int, of: LoaderConfiguration)
  /// Loads several values concurrently; the result is the array of the values.
  case all(of: [LoaderConfiguration])
  /// Loads several values in order; the result is the last value.
  case sequence(of: [LoaderConfiguration])

  /// One state of a mock.
  ///
  /// - Shape: `{"after": Seconds, "state": LoadingViewState}`
  public struct MockState: Hashable, Sendable {
    /// The delay after the previous state, or after the call for the first state; 0 if absent.
    public var after: Duration
    /// The state.
    public var state: LoadingViewState

    /// Creates a state with a delay.
    public init(after: Duration = .zero, _ state: LoadingViewState) {
      self.after = after
      self.state = state
    }
  }

  /// The delay before each further attempt: `base`, then multiplied by `factor` each time, at most
  /// `max`.
  ///
  /// - Shape: `{"type": "exponential", "base": Seconds, "factor": Number, "max": Seconds}`, each
  ///   member optional.
  public struct RetryBackoff: Hashable, Sendable {
    /// The delay before the second attempt.
    public var base: Duration
    /// The factor from one delay to the next; at least 0.
    public var factor: Double
    /// The greatest delay.
    public var max: Duration

    /// Creates a backoff; by default 1, 2, 4 … seconds, at most 30.
    public init(base: Duration = .seconds(1), factor: Double = 2, max: Duration = .seconds(30)) {
      self.base = base
      self.factor = factor
      self.max = max
    }
  }

  /// The default interval of a debounce.
  public static let debounceInterval = Duration.milliseconds(300)

  /// The most levels of a tree.
  public static let maximumDepth = 32
  /// The most nodes of a tree.
  public static let maximumNodes = 1_000
  /// The most states of all mocks of a tree.
  public static let maximumMockStates = 10_000
  /// The most states that the mocks of a tree play in total, with the attempts of the retries around
  /// them.
  public static let maximumPlayedStates = 100_000
  /// The most attempts of nested retries in total, so that a tree cannot cause unlimited work.
  public static let maximumAttempts = 10_000
  /// The greatest length of a source's name and of a cache's key.
  ///
  /// - Units: UTF-8 bytes.
  public static let maximumNameBytes = 256
}
