// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The sessions of which the journal lacks entries, because a commit has failed. Each is journaled as a
/// whole: in its turn, one per commit, or immediately if a client is about to receive something of it.
///
/// After a failure, the next attempt waits: a session can be large, and a full disk affects all
/// sessions. A failed attempt for a client delays only other such attempts.
struct IncompleteSessions {
  /// The handles, in the order in which they are journaled.
  private var waiting: Deque<SessionHandle> = []
  /// The commit that journals one of them in its turn.
  private var inTurn: CommitNumber?
  /// The last commit that journals one of them for a client.
  private var forClient: CommitNumber?
  /// The earliest times of the next attempts.
  ///
  /// - Units: the `uptime` of the shard's clock.
  private var nextInTurn = Duration.zero
  private var nextForClient = Duration.zero

  private static var timeBetweenAttempts: Duration { .seconds(1) }

  /// True if no session waits, and none is being journaled in its turn.
  var isEmpty: Bool { waiting.isEmpty && inTurn == nil }

  /// True if a session waits and none is being journaled in its turn.
  var canContinue: Bool { !waiting.isEmpty && inTurn == nil }

  mutating func append(_ session: SessionHandle) { waiting.append(session) }

  /// Returns the next session, which the caller journals as a whole in `commit`; nil if there is none,
  /// or if it has to wait after a failure.
  ///
  /// - Parameters:
  ///   - time: The `uptime` of the shard's clock.
  ///   - commit: The commit.
  ///   - find: Finds a session that has not ended.
  mutating func next(
    at time: Duration, in commit: CommitNumber, _ find: (SessionHandle) -> Session?
  ) -> Session? {
    guard canContinue, time >= nextInTurn else { return nil }
    while !waiting.isEmpty {
      guard let session = find(waiting.removeFirst()), session.record?.isIncomplete == true else {
        continue
      }
      inTurn = commit
      return session
    }
    return nil
  }

  /// Records that a session is to be journaled for a client.
  ///
  /// - Returns: False if it has to wait after a failure.
  mutating func beginForClient(at time: Duration, in commit: CommitNumber) -> Bool {
    guard time >= nextForClient else { return false }
    forClient = commit
    return true
  }

  /// Records the failure of commits.
  mutating func failed(_ commits: ClosedRange<CommitNumber>, at time: Duration) {
    let next = time + Self.timeBetweenAttempts
    if let forClient, commits.contains(forClient) {
      nextForClient = next
    } else {
      nextInTurn = next
    }
  }

  /// Records that all commits up to `last` have ended.
  mutating func ended(_ last: CommitNumber) {
    if let commit = inTurn, commit <= last { inTurn = nil }
  }
}
