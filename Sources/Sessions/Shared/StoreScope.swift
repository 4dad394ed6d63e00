// SPDX-License-Identifier: Apache-2.0

/// The sessions that use one store of a kind.
public enum StoreScope: Sendable {
  /// Each session has its own store. The default.
  case session
  /// All sessions that open a store of the kind under the same name use the same store.
  ///
  /// - Parameters:
  ///   - audience: The sessions that share a store.
  ///   - time: The time for which a durable store is kept in the journal after the last session has
  ///     closed it or has ended; at most a year. A store that is not journaled is kept for the time
  ///     to live of sessions.
  case shared(by: Sharing = .everyone, keptFor: Duration = .seconds(30 * 24 * 60 * 60))

  /// The longest time for which a shared store is kept without users after a restart: a year.
  static let longestTime = Duration.seconds(365 * 24 * 60 * 60)

  /// The sessions that share a store.
  public enum Sharing: Sendable {
    /// All sessions.
    case everyone
    /// The sessions of one identity. If the server has no identities, all sessions.
    case identity
  }
}

extension StoreKind {
  /// True if several sessions use one store of the kind.
  public var isShared: Bool { if case .shared = scope { true } else { false } }
}
