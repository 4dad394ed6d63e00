// SPDX-License-Identifier: Apache-2.0

/// What sessions may use.
public struct SessionLimits: Sendable {
  /// Names of stores, closed ones included.
  public var storesPerSession = 1024
  /// - Units: UTF-8 bytes.
  public var storeNameBytes = 256

  /// What a session may hold of configurations, states, and frames for frontends that come back; inputs and
  /// stores are refused beyond it. Lists are not counted.
  /// - Units: bytes, those of configurations and states counted twice.
  public var bytesPerSession = 32 << 20
  /// The same for all sessions of an identity; nil: half of `bytes`.
  public var bytesPerIdentity: Int?
  /// The same for all sessions of one shard.
  public var bytes = 128 << 20

  /// Sessions with a handle, of one shard.
  public var sessions = 10_000
  /// Of those, such as one identity has opened; nil: as many as in all.
  public var sessionsPerIdentity: Int?
  /// How long a session with a handle outlives the last of its connections.
  public var timeToLive = Duration.seconds(120)
  /// What is kept of each store of a session with a handle, for frontends that come back.
  /// - Units: bytes of frames.
  public var historyBytes = 64 << 10
  /// Names of frontends that one session remembers.
  public var frontendNames = 1000
  /// - Units: UTF-8 bytes.
  public var frontendNameBytes = 256

  public init() {}
}
