// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// Bytes for a client that wait for the commits of their turns, in order.
struct Deliveries {
  enum Content {
    case bytes([UInt8])
    case broadcast(BroadcastBuffer, from: Int)

    var byteCount: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .broadcast(let buffer, let start): buffer.bytes.count - start
      }
    }
  }

  private struct Waiting {
    let commit: CommitNumber
    let content: Content
    /// What is counted of the entries of the turn, so that a client cannot fill the way to the journal.
    let entryBytes: Int
  }

  private var waiting: [Waiting] = []
  /// How many bytes wait, those for the journal included.
  private(set) var byteCount = 0

  var isEmpty: Bool { waiting.isEmpty }
  /// The commit that comes last; nil if nothing waits.
  var lastCommit: CommitNumber? { waiting.last?.commit }
  /// True if the client's next messages wait until some commits have ended.
  var isFull: Bool { byteCount > Self.maximumBytes || waiting.count > Self.maximumCount }

  /// - Parameter entryBytes: The bytes that the turn has for the journal.
  mutating func add(_ content: Content, after commit: CommitNumber, entryBytes: Int?) {
    let isOfCountedTurn = lastCommit == commit
    let one = Waiting(
      commit: commit, content: content, entryBytes: isOfCountedTurn ? 0 : entryBytes ?? 0)
    waiting.append(one)
    byteCount += content.byteCount + one.entryBytes
  }

  /// True if a commit that something waits for has failed.
  func isAnyLost(_ result: CommitResult) -> Bool {
    waiting.contains { result.hasFailed($0.commit) }
  }

  /// Takes out what waits no more.
  mutating func takeReady(_ result: CommitResult) -> [Content] {
    let count = waiting.prefix { result.includes($0.commit) }.count
    let ready = waiting.prefix(count).map { one in
      byteCount -= one.content.byteCount + one.entryBytes
      return one.content
    }
    waiting.removeFirst(count)
    return ready
  }

  private static let maximumBytes = 1 << 20
  private static let maximumCount = 256
}
