// SPDX-License-Identifier: Apache-2.0

/// How a value is loaded, as data: a tree of policies around sources.
///
/// - Shape: `{"type": node, …}`, the case as the type and its labels as members; `of` is another
///   node, or an array of nodes for `all` and `sequence`. Members that a node does not know are
///   ignored.
/// - Units: times are JSON numbers of seconds, see `Seconds`.
public indirect enum LoaderConfiguration: Hashable, Sendable {
  /// A source that the operator registered under a name.
  case source(name: String)
  /// States that are played one after the other; the last one is the outcome, if it is one.
  case mock(states: [MockState])
  /// Calls of load wait until there has been none for an interval (0.3 if not given).
  case debounce(interval: Duration, executeFirstImmediately: Bool = false, of: LoaderConfiguration)
  /// Loads again after a failure, `maxAttempts` times in all.
  case retry(maxAttempts: Int, backoff: RetryBackoff = RetryBackoff(), of: LoaderConfiguration)
  /// Fails after an interval.
  case timeout(interval: Duration, of: LoaderConfiguration)
  /// Keeps a loaded value for a time, under a key that the session's loaders share.
  case cache(key: String, ttl: Duration, of: LoaderConfiguration)
  /// Waits until fewer than `limit` others load.
  case concurrencyLimit(limit: Int, of: LoaderConfiguration)
  /// Several at once; the value is the array of theirs.
  case all(of: [LoaderConfiguration])
  /// One after the other; the value is the last one's.
  case sequence(of: [LoaderConfiguration])

  /// One state of a mock.
  ///
  /// - Shape: `{"after": Seconds, "state": LoadingViewState}`
  public struct MockState: Hashable, Sendable {
    /// Counts from the state before, from the call for the first one; 0 if not given.
    public var after: Duration
    public var state: LoadingViewState

    public init(after: Duration = .zero, _ state: LoadingViewState) {
      self.after = after
      self.state = state
    }
  }

  /// How long to wait before each further attempt: `base`, then `factor` times as long each time.
  ///
  /// - Shape: `{"type": "exponential", "base": Seconds, "factor": Number, "max": Seconds}`, each
  ///   member optional.
  public struct RetryBackoff: Hashable, Sendable {
    public var base: Duration
    /// At least 0.
    public var factor: Double
    public var max: Duration

    public init(base: Duration = .seconds(1), factor: Double = 2, max: Duration = .seconds(30)) {
      self.base = base
      self.factor = factor
      self.max = max
    }
  }

  /// The interval of a debounce that does not say.
  public static let debounceInterval = Duration.milliseconds(300)

  /// How many nodes may lie above each other.
  public static let maximumDepth = 32
  /// How many nodes a tree may have.
  public static let maximumNodes = 1_000
  /// How many states the mocks of a tree may have in all.
  public static let maximumMockStates = 10_000
  /// How often retries inside retries may try in all, so that a tree cannot ask for endless work.
  public static let maximumAttempts = 10_000
  /// - Units: UTF-8 bytes, of a source's name and of a cache's key.
  public static let maximumNameBytes = 256
}
