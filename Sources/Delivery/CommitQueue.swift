// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Sessions

/// A queue of bytes for a client that wait for the commits of their turns, in order.
struct CommitQueue {
  /// Bytes that wait for commits.
  enum Content {
    /// Bytes for this client only.
    case bytes([UInt8])
    /// The bytes of a broadcast buffer from an offset to the end.
    case broadcast(BroadcastBuffer, from: Int)

    var byteCount: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .broadcast(let buffer, let start): buffer.bytes.count - start
      }
    }

    /// Number of the bytes that are not shared with other clients.
    var ownByteCount: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
  }

  /// An element of the queue.
  private struct Waiting {
    let commits: PendingCommits
    let content: Content
    /// Size of the journal entries of the client's turn, in bytes.
    var entryBytes = 0
  }

  private var waiting: Deque<Waiting> = []
  /// Total number of queued bytes, including shared bytes and journal entries.
  private var allBytes = 0
  /// Number of queued bytes that are not shared with other clients.
  private(set) var byteCount = 0

  var isEmpty: Bool { waiting.isEmpty }
  /// The queued contents, in order.
  var contents: some Sequence<Content> { waiting.lazy.map(\.content) }
  /// The last commit that an element waits for; nil if the queue is empty.
  var lastCommit: CommitNumber? { waiting.last?.commits.last }
  /// True if more than 1 MiB or more than 256 elements are queued. The client's next messages then
  /// wait until some commits have ended.
  var isFull: Bool { allBytes > Self.maximumBytes || waiting.count > Self.maximumCount }

  /// Appends an element that waits for commits.
  mutating func add(_ content: Content, after commits: PendingCommits) {
    waiting.append(Waiting(commits: commits, content: content))
    allBytes += content.byteCount
    byteCount += content.ownByteCount
  }

  /// Counts the bytes of the journal entries of one turn of the client.
  mutating func count(entryBytes: Int, of commits: PendingCommits) {
    if lastCommit != commits.last { add(.bytes([]), after: commits) }
    let last = waiting.count - 1
    allBytes += entryBytes - waiting[last].entryBytes
    waiting[last].entryBytes = entryBytes
  }

  /// Returns true if a commit has failed that an element waits for.
  func isAnyLost(_ result: CommitResult) -> Bool {
    result.hasFailures && waiting.contains { $0.commits.haveFailed(in: result) }
  }

  /// Removes and returns the contents whose commits have ended.
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
