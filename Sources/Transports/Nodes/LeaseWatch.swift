// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// Measures for how long this node has had no lease; one for each loop, which checks it once a second.
///
/// Nothing is delivered without a lease, so clients wait, also for responses that need no commit.
final class LeaseWatch: Sendable {
  private let ownership: any SessionOwnership
  private let patience: Duration
  private let lostAt = Lock(ContinuousClock.Instant?.none)

  init(_ nodes: NodeMembership) { (ownership, patience) = (nodes.ownership, nodes.patience) }

  /// Checks whether clients have waited for too long.
  ///
  /// - Returns: Nil if not; true after a further time, in which other nodes have noticed the same.
  func check(_ now: ContinuousClock.Instant) -> Bool? {
    guard !ownership.isHeld else {
      lostAt.withLock { $0 = nil }
      return nil
    }
    let since = lostAt.withLock { lostAt in
      let since = lostAt ?? now
      lostAt = since
      return since
    }
    let time = now - since
    return time < patience ? nil : time >= patience + Self.timeOfOthers
  }

  private static let timeOfOthers = Duration.seconds(5)
}
