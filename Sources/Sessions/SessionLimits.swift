// SPDX-License-Identifier: Apache-2.0

/// The limits of the sessions of one shard.
public struct SessionLimits: Sendable {
  /// Number of store names in a session, including closed stores.
  public var storesPerSession = 1024
  /// Length of a store name.
  ///
  /// - Units: bytes of UTF-8.
  public var storeNameBytes = 256

  /// Size of a session's configurations, states and stored updates. Beyond it, inputs and new
  /// stores are refused. Lists are not counted.
  ///
  /// - Units: bytes; configurations and states count twice.
  public var bytesPerSession = 32 << 20
  /// Size of all sessions of one identity, in the same units; nil for half of `bytes`.
  public var bytesPerIdentity: Int?
  /// Size of all sessions of the shard, in the same units.
  public var bytes = 128 << 20

  /// Number of sessions with a handle that are in memory. Sessions that sleep do not count; one that
  /// a client wakes is loaded also at the limit.
  public var sessions = 10_000
  /// Number of these sessions that one identity has opened; nil for no separate limit.
  public var sessionsPerIdentity: Int?
  /// Time that a session with a handle exists without a client.
  public var timeToLive = Duration.seconds(120)
  /// Time after which a session without a client and without work sleeps, if there is a journal: it
  /// is removed from memory, and loaded again when a client attaches. Nil if sessions do not sleep.
  ///
  /// The default is longer than a reconnection, so that a lost connection costs no reading of the
  /// journal, and shorter than the time to live.
  public var sleepAfter: Duration? = .seconds(30)
  /// Size of the updates that are stored for each store of a session with a handle, for
  /// reconnecting clients.
  ///
  /// - Units: bytes of updates.
  public var historyBytes = 64 << 10
  /// Size of the states that are kept aside because they cannot be read. A session with another one
  /// is set aside: it is not restored, and it stays in the journal unchanged.
  ///
  /// - Units: bytes of JSON text.
  public var keptBytes = 256 << 20
  /// Number of frontend names that a session remembers.
  public var frontendNames = 1000
  /// Length of a frontend name.
  ///
  /// - Units: bytes of UTF-8.
  public var frontendNameBytes = 256

  /// Creates the default limits.
  public init() {}
}
