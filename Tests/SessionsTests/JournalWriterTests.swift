// SPDX-License-Identifier: Apache-2.0

import StateMachines
import TestSupport
import Testing

@testable import Sessions

/// Entries that the journal has lost.
@Suite("Journal writer")
struct JournalWriterTests {
  private let journal = MemoryJournal()
  private let commits = HeldJobs()
  private let writer: JournalWriter

  init() throws {
    writer = try #require(JournalWriter(journal, commit: commits.add, maximumBytes: 10))
  }

  private func handle(_ number: UInt64) -> SessionHandle { SessionHandle(high: 0, low: number) }

  /// Adds the next turn of a shard.
  private func add(
    _ number: UInt64, of shard: Int = 0, bytes: Int = 1,
    _ events: (session: UInt64, event: JournalEntry.Event)...
  ) {
    var entries = events.map { JournalEntry(handle($0.session), $0.event) }
    writer.commit(&entries, byteCount: bytes, of: shard, CommitNumber(rawValue: number))
  }

  /// Checks that two turns share a transaction.
  private func expectSharing(from number: UInt64) {
    let before = journal.commits.count
    add(number, (8, .opened(owner: nil)))
    add(number + 1, (9, .opened(owner: nil)))
    commits.run()
    #expect(journal.commits.dropFirst(before).map(\.count) == [2])
  }

  // Until the process was restarted, each turn was a transaction of its own.
  @Test("a session that has ended while the disk was slow does not delay commits")
  func endedWhileSlow() {
    add(1, bytes: 10, (1, .opened(owner: nil)))
    add(2, bytes: 10, (1, .expires(at: nil)))
    add(3, bytes: 10, (1, .ended))
    commits.run()
    #expect(journal.commits.map(\.count) == [1])
    expectSharing(from: 4)
  }

  @Test("an incomplete session that has ended while the disk was slow does not delay commits")
  func incompleteBefore() {
    journal.tooLarge = [handle(1)]
    add(1, (1, .opened(owner: nil)))
    commits.run()
    add(2, bytes: 10, (2, .opened(owner: nil)))
    add(3, bytes: 10, (1, .ended))
    commits.run()
    expectSharing(from: 4)
  }

  @Test("an incomplete session whose last turn fails does not delay commits")
  func failedEnd() {
    journal.tooLarge = [handle(1)]
    add(1, (1, .opened(owner: nil)))
    commits.run()
    add(2, (1, .expires(at: nil)), (1, .ended))
    commits.run()
    #expect(journal.commits.isEmpty)
    expectSharing(from: 3)
  }

  @Test("lost turns share one element for each shard, in whatever order the shards have them")
  func lostTurns() {
    let results = Record<String>()
    for index in 0..<2 {
      writer.set(ShardPlace(index: index, count: 2)) { result in
        let failures = result.failures.map {
          "\($0.numbers.lowerBound.rawValue)-\($0.numbers.upperBound.rawValue)"
        }
        results.add("\(index): \(result.last.rawValue), \(failures)")
      }
    }
    add(1, of: 0, bytes: 10, (1, .opened(owner: nil)))
    for number: UInt64 in 1...100 {
      add(number + 1, of: 0, bytes: 10, (1, .expires(at: nil)))
      add(number, of: 1, bytes: 10, (2, .expires(at: nil)))
    }
    #expect(writer.metrics.waitingTurns == 3)
    commits.run()
    #expect(results.all == [#"0: 101, ["2-101"]"#, #"1: 100, ["1-100"]"#])
    #expect(writer.metrics.ended.failedTurns == 200)
  }
}
