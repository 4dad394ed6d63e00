// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The number of sessions with a handle of all shards, in total and of each identity.
final class SessionCensus: Sendable {
  fileprivate struct Counts {
    var all = 0
    var owners: [ByteString: Int] = [:]

    mutating func add(_ owner: String?) {
      all += 1
      if let owner { owners[ByteString(owner), default: 0] += 1 }
    }
  }

  private let counts = Lock(Counts())

  /// The number of sessions.
  var count: Int { counts.withLock { $0.all } }

  /// Returns the number of sessions that an identity has opened.
  func count(of owner: String) -> Int {
    counts.withLock { $0.owners[ByteString(owner), default: 0] }
  }

  /// Counts a session without a check: it exists already.
  func add(_ owner: String?) { counts.withLock { $0.add(owner) } }

  /// Counts a new session if the limits admit it.
  ///
  /// - Returns: The limit that is reached; nil if the session was counted.
  func admit(_ owner: String?, _ limits: SessionLimits) -> SessionError.Limit? {
    counts.withLock { counts in
      if let limit = counts.limit(of: owner, limits) { return limit }
      counts.add(owner)
      return nil
    }
  }

  /// Returns the limit that a new session would exceed; nil if there is none.
  func limit(of owner: String?, _ limits: SessionLimits) -> SessionError.Limit? {
    counts.withLock { $0.limit(of: owner, limits) }
  }

  /// Counts one session less.
  func remove(_ owner: String?) {
    counts.withLock { counts in
      counts.all -= 1
      guard let owner = ByteString(owner), let count = counts.owners[owner] else {
        return
      }
      counts.owners[owner] = count > 1 ? count - 1 : nil
    }
  }
}

extension SessionCensus.Counts {
  fileprivate func limit(of owner: String?, _ limits: SessionLimits) -> SessionError.Limit? {
    if let owner, let maximum = limits.sessionsPerIdentity,
      owners[ByteString(owner), default: 0] >= maximum
    {
      return .sessionsPerIdentity
    }
    return all >= limits.sessions ? .sessions : nil
  }
}
