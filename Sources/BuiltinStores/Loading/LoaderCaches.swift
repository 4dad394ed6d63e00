// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Creates the caches of the loaders of all sessions, whose values have one quota of bytes.
public final class LoaderCaches: Sendable {
  /// The default of the largest number of bytes.
  public static var maximumBytes: Int { 64 << 20 }

  private let maximumBytes: Int
  private let all: CacheQuota
  /// The quotas of identities: at most one for each token name.
  private let identities = Lock<[String: Identity]>([:])

  private struct Identity {
    weak var quota: CacheQuota?
  }

  /// Creates the caches of a server.
  ///
  /// - Parameter maximumBytes: The largest number of bytes of all values, of which one identity has
  ///   at most half. Each value counts its text and 512 bytes.
  public init(maximumBytes: Int = maximumBytes) {
    self.maximumBytes = maximumBytes
    all = CacheQuota(maximum: maximumBytes)
  }

  /// Returns the cache of a session.
  ///
  /// - Parameter identity: The identity of the session's owner; nil if there are no identities.
  @Sendable
  public func session(of identity: String?) -> LoaderCache {
    LoaderCache(within: identity.map(quota(of:)) ?? all)
  }

  private func quota(of identity: String) -> CacheQuota {
    identities.withLock { identities in
      if let quota = identities[identity]?.quota { return quota }
      let quota = CacheQuota(maximum: max(1, maximumBytes / 2), within: all)
      identities[identity] = Identity(quota: quota)
      return quota
    }
  }
}
