// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Sessions

/// Bytes for a client that wait for the commits of their turns, in order.
struct CommitQueue {
  enum Content {
    case bytes([UInt8])
    case broadcast(BroadcastBuffer, from: Int)

    var byteCount: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .broadcast(let buffer, let start): buffer.bytes.count - start
      }
    }

    /// How many of the bytes no other client shares.
    var ownByteCount: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  private struct Waiting {
    let commits: PendingCommits
    let content: Content
    /// The bytes that the client's turn has for the journal.
    var entryBytes = 0
  }

  private var waiting: Deque<Waiting> = []
  /// How many bytes wait, shared ones and those for the journal included.
  private var allBytes = 0
  /// How many bytes wait that are this client's alone.
  private(set) var byteCount = 0

  var isEmpty: Bool { waiting.isEmpty }
  /// The commit that comes last; nil if nothing waits.
  var lastCommit: CommitNumber? { waiting.last?.commits.last }
  /// True if the client's next messages wait until some commits have ended.
  var isFull: Bool { allBytes > Self.maximumBytes || waiting.count > Self.maximumCount }

  mutating func add(_ content: Content, after commits: PendingCommits) {
    waiting.append(Waiting(commits: commits, content: content))
    allBytes += content.byteCount
    byteCount += content.ownByteCount
  }

  /// Counts the bytes that a turn of the client has for the journal.
  mutating func count(entryBytes: Int, of commits: PendingCommits) {
    if lastCommit != commits.last { add(.bytes([]), after: commits) }
    let last = waiting.count - 1
    allBytes += entryBytes - waiting[last].entryBytes
    waiting[last].entryBytes = entryBytes
  }

  /// True if a commit that something waits for has failed.
  func isAnyLost(_ result: CommitResult) -> Bool {
    result.hasFailures && waiting.contains { $0.commits.haveFailed(in: result) }
  }

  /// Removes the contents whose commits have ended.
  mutating func takeReady(_ result: CommitResult) -> [Content] {
    let count = waiting.prefix { result.includes($0.commits.last) }.count
    let ready = waiting.prefix(count).map { one in
      allBytes -= one.content.byteCount + one.entryBytes
      byteCount -= one.content.ownByteCount
      return one.content
    }
    waiting.removeFirst(count)
    return ready
  }

  private static let maximumBytes = 1 << 20
  private static let maximumCount = 256
}
