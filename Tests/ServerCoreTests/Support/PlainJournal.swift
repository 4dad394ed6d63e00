// SPDX-License-Identifier: Apache-2.0

import Sessions

/// A journal in memory that records commits, and can refuse them.
// @unchecked because the test is the loop: nothing else runs meanwhile.
final class PlainJournal: SessionJournal, @unchecked Sendable {
  struct Full: Error {}

  private(set) var commits: [[JournalEntry]] = []
  var isFull = false
  /// True for entries that make a commit fail.
  var refuses: ([JournalEntry]) -> Bool = { _ in false }

  func commit(_ entries: [JournalEntry]) throws {
    guard !isFull, !refuses(entries) else { throw Full() }
    commits.append(entries)
  }

  func load() throws -> JournalContents { JournalContents() }

  func start() throws -> JournalStart { contents.start }

  func load(_ session: SessionHandle) throws -> LoadedSession { contents.loaded(session) }

  func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    contents.continuing(after: position, limit: limit)
  }

  func endExpired(at time: Duration, limit: Int) throws -> Int { 0 }

  private var contents: JournalContents {
    var contents = JournalContents()
    for entry in commits.joined() { contents.take(entry) }
    return contents
  }
}
