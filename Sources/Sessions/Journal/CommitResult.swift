// SPDX-License-Identifier: Apache-2.0

/// The number of a commit. The commits of one shard count from 1, in the order of their turns.
public struct CommitNumber: Hashable, Comparable, Sendable {
  let rawValue: UInt64

  var next: CommitNumber { CommitNumber(rawValue: rawValue + 1) }

  /// Returns true if the first commit precedes the second one.
  public static func < (one: CommitNumber, other: CommitNumber) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// The commits that must end before some bytes are sent.
public struct PendingCommits: Sendable {
  /// The last one of the commits.
  public private(set) var last: CommitNumber
  /// Other commits whose failure also discards the bytes; usually none.
  private var others: [CommitNumber] = []

  /// Creates the set of one commit.
  public init(last: CommitNumber) { self.last = last }

  /// All commits of the set.
  public var all: [CommitNumber] { others + [last] }

  mutating func add(_ number: CommitNumber) {
    if number == last { return }
    others.append(min(number, last))
    last = max(number, last)
  }

  /// Returns true if one of the commits has failed.
  public func haveFailed(in result: CommitResult) -> Bool {
    result.hasFailed(last) || others.contains(where: result.hasFailed)
  }
}

/// The end of some consecutive commits.
public struct CommitResult: Sendable {
  /// The last commit that has ended.
  let last: CommitNumber
  /// The failed commits, in order.
  var failures: [Failure] = []

  /// Consecutive commits of which entries are missing in the journal.
  struct Failure: Sendable {
    let numbers: ClosedRange<CommitNumber>
    /// The sessions whose entries are missing.
    let sessions: Set<SessionHandle>
    let error: any Error
  }

  /// True if a commit has failed.
  public var hasFailures: Bool { !failures.isEmpty }

  /// Returns true if a commit has ended, with this result or before.
  public func includes(_ number: CommitNumber) -> Bool { number <= last }

  /// Returns true if a commit has failed.
  ///
  /// - Complexity: O(log n) in the number of failures.
  public func hasFailed(_ number: CommitNumber) -> Bool {
    var (low, high) = (0, failures.count)
    while low < high {
      let middle = (low + high) / 2
      if failures[middle].numbers.upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low < failures.count && failures[low].numbers.contains(number)
  }
}

/// The two threads of a journal: one for commits, which block, and that of the shard.
public struct JournalThreads: Sendable {
  let commit: @Sendable (@escaping @Sendable () -> Void) -> Void
  let notify: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Creates a pair of threads.
  ///
  /// - Parameters:
  ///   - commit: Runs a closure on a thread that may block, after all closures that were passed
  ///     before.
  ///   - notify: Runs a closure on the thread of the shard, after all closures that were passed
  ///     before.
  public init(
    commit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    notify: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.commit = commit
    self.notify = notify
  }
}
