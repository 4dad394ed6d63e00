// SPDX-License-Identifier: Apache-2.0

@testable import Sessions

/// A delivery to a client that waits for the commits of its session, and its fate.
final class Delivery: CommitObserver {
  enum Fate {
    case waits, sent, lost
  }

  private(set) var fate = Fate.waits
  private var commits: PendingCommits?

  /// Creates a delivery, at the end of a turn.
  ///
  /// - Parameter session: The client's session.
  init(to session: Session, on shard: isolated Shard) {
    guard shard.turnOutcome.complete(session) else {
      fate = .lost
      return
    }
    commits = shard.turnOutcome.pendingCommits(of: session, after: [])
    if commits == nil { fate = .sent } else { shard.turnOutcome.awaitCommit(self) }
  }

  func committed(_ result: CommitResult, isolation shard: isolated Shard) {
    guard let commits else { return }
    if commits.haveFailed(in: result) {
      fate = .lost
    } else if result.includes(commits.last) {
      fate = .sent
    } else {
      shard.turnOutcome.awaitCommit(self)
    }
  }
}
