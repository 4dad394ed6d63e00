// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines

/// A journal that remembers every commit, so that a test can ask what would be there had the process
/// been killed after any of them.
// @unchecked because all of it happens on one shard's loop at a time.
final class MemoryJournal: SessionJournal, @unchecked Sendable {
  struct Full: Error {}

  private(set) var commits: [[JournalEntry]]
  /// Whether nothing can be written.
  var isFull = false
  /// Sessions of which nothing can be written.
  var tooLarge: Set<SessionHandle> = []
  /// How often nothing could be.
  private(set) var refusals = 0
  /// Called after each commit.
  var whenCommitted: (() -> Void)?

  private var loads: UInt64

  /// - Parameter loads: How often it was loaded before.
  init(_ commits: [[JournalEntry]] = [], loads: UInt64 = 0) {
    self.commits = commits
    self.loads = loads
  }

  func commit(_ entries: [JournalEntry]) throws {
    guard !isFull, !entries.contains(where: { tooLarge.contains($0.session) }) else {
      refusals += 1
      throw Full()
    }
    commits.append(entries)
    whenCommitted?()
  }

  func load() throws -> JournalContents {
    var contents = JournalContents()
    loads += 1
    contents.loads = loads
    for entry in commits.joined() { contents.take(entry) }
    return contents
  }

  var entries: [JournalEntry] { Array(commits.joined()) }
}
