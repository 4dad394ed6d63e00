// SPDX-License-Identifier: Apache-2.0

import StateMachines
import TestSupport
import Testing

@testable import Sessions

/// Several transactions that are in progress at a time.
@Suite("Pipelined journal")
struct PipelinedJournalTests {
  private let journal = HeldJournal()
  private let commits = HeldJobs()
  private let writer: JournalWriter
  private let results = Record<String>()

  init() throws {
    writer = try #require(JournalWriter(journal, commit: commits.add))
    writer.set(
      .alone,
      ended: { [results] result in
        let failures = result.failures.map { failure in
          "\(failure.numbers.lowerBound.rawValue): \(failure.sessions.map { $0.bits.low }.sorted())"
        }
        results.add(([result.last.rawValue.description] + failures).joined(separator: ", "))
      })
  }

  private func handle(_ number: UInt64) -> SessionHandle { SessionHandle(high: 0, low: number) }

  /// Commits the next turn, with an entry of each session.
  private func commit(
    _ number: Int, _ sessions: UInt64..., event: JournalEntry.Event? = nil
  ) {
    let event = event ?? .alone(continues: false, bytes: number)
    var entries = sessions.map { JournalEntry(handle($0), event) }
    writer.commit(&entries, byteCount: 1, of: 0, CommitNumber(rawValue: UInt64(number)))
    commits.run()
  }

  @Test("three transactions are in progress, and the turns that wait share the next one")
  func groups() {
    for number in 1...6 { commit(number, 1) }
    #expect(journal.begun.map(\.count) == [1, 1, 1] && results.all == [])
    #expect(writer.metrics.waitingTurns == 6 && writer.metrics.waitingBytes == 6)
    journal.end()
    commits.run()
    #expect(journal.begun.map(\.count) == [1, 1, 3] && results.all == ["1"])
    for _ in 0..<3 { journal.end() }
    #expect(results.all == ["1", "2", "3", "6"])
    commits.run()
    commit(7, 1)
    journal.end()
    #expect(results.all.last == "7" && journal.committed.count == 7)
    let metrics = writer.metrics
    #expect(metrics.waitingTurns == 0 && metrics.waitingBytes == 0)
    #expect(metrics.ended.committedTurns == 7 && metrics.ended.committedBytes == 7)
    #expect(metrics.ended.failedTurns == 0 && metrics.durations.count == 5)
  }

  @Test("what has failed is not repeated after a later transaction was committed")
  func overtaking() {
    journal.tooLarge = [handle(1)]
    commit(1, 1)
    commit(2, 2)
    commit(3, 3)
    journal.end()
    journal.overtakes = true
    journal.end()
    journal.overtakes = false
    journal.tooLarge = []
    journal.end()
    commits.run()
    #expect(results.all == ["1, 1: [1]", "2", "3, 3: [3]"])
    #expect(journal.committed.map(\.session) == [handle(2)])
    // They are journaled as a whole.
    commit(4, 1, 3, event: .opened(owner: nil))
    #expect(results.all.last == "4" && journal.committed.count == 3)
    commit(5, 1)
    #expect(journal.begun.count == 1)
    journal.end()
    #expect(results.all.last == "5")
  }

  @Test("a session that has ended in a transaction that is not repeated does not delay commits")
  func overtakenEnd() {
    journal.tooLarge = [handle(1)]
    commit(1, 1)
    commit(2, 2)
    commit(3, 1, event: .ended)
    journal.end()
    journal.overtakes = true
    journal.end()
    journal.overtakes = false
    journal.end()
    commits.run()
    #expect(results.all == ["1, 1: [1]", "2", "3, 3: []"])
    commit(4, 2)
    #expect(journal.begun.count == 1)
    journal.end()
    #expect(results.all.last == "4")
  }

  @Test("after a failure, what was in progress is repeated turn by turn before later turns begin")
  func failure() {
    journal.tooLarge = [handle(2)]
    commit(1, 1)
    commit(2, 2)
    commit(3, 3)
    commit(4, 2, 3)
    commit(5, 1)
    for _ in 0..<3 { journal.end() }
    #expect(results.all == ["1"] && journal.begun.isEmpty)
    commits.run()
    // Only the sessions of the failed turn are incomplete.
    #expect(results.all == ["1", "2, 2: [2]", "3", "5, 4: [2]"])
    #expect(journal.committed.map(\.session) == [1, 3, 3, 1].map(handle))
    // It is complete again when it was journaled as a whole, and then commits are pipelined again.
    journal.tooLarge = []
    commit(6, 2, event: .opened(owner: nil))
    #expect(results.all.last == "6" && journal.begun.isEmpty)
    commit(7, 2)
    #expect(journal.begun.count == 1)
    journal.end()
    #expect(results.all.last == "7")
    #expect(writer.metrics.ended.committedTurns == 5 && writer.metrics.ended.failedTurns == 2)
  }

  // Until the process was restarted, each turn was a transaction of its own.
  @Test("lost sessions, which another node may own, do not delay commits any more")
  func lost() {
    journal.tooLarge = [handle(2)]
    commit(1, 2)
    journal.end()
    commits.run()
    #expect(results.all == ["1, 1: [2]"])
    // Turn 2 had entries of the lost session when it was forgotten.
    writer.forget([handle(2)], of: 0, after: CommitNumber(rawValue: 2))
    commit(2, 1, 2)
    #expect(results.all.last == "2, 2: [2]" && journal.begun.isEmpty)
    commit(3, 1)
    #expect(journal.begun.count == 1)
    journal.end()
    #expect(results.all.last == "3" && journal.committed.map(\.session) == [1, 1].map(handle))
  }

  @Test("a lost session that is loaded again is recorded again, with its failures")
  func loadedAgain() {
    journal.tooLarge = [handle(2)]
    commit(1, 2)
    journal.end()
    commits.run()
    writer.forget([handle(2)], of: 0, after: CommitNumber(rawValue: 2))
    writer.load(handle(2), of: .alone) { _ in }
    commits.run()
    commit(2, 2)
    journal.end()
    commits.run()
    commit(3, 2)
    #expect(results.all == ["1, 1: [2]", "2, 2: [2]", "3, 3: [2]"])
  }

  @Test("a session is loaded without blocking the thread of commits")
  func loads() throws {
    journal.memory = MemoryJournal([[JournalEntry(handle(1), .opened(owner: "me"))]])
    let loaded = Record<String?>()
    writer.load(handle(1), of: .alone) { loaded.add((try? $0.get())?.session?.owner) }
    commits.run()
    #expect(loaded.all == [])
    journal.endLoading()
    #expect(loaded.all == ["me"])
  }
}

/// A journal whose transactions end when the test says so.
// @unchecked because only the thread of a test uses it.
private final class HeldJournal: PipelinedJournal, @unchecked Sendable {
  struct Large: Error {}
  struct Skipped: Error {}

  var memory = MemoryJournal()
  var tooLarge: Set<SessionHandle> = []
  private(set) var begun: [[JournalEntry]] = []
  private var ends: [@Sendable (Result<Void, any Error>) -> Void] = []
  private var hasFailed = false
  private var loading: (() -> Void)?

  /// True if the next transaction has begun before the failure of an earlier one was reported.
  var overtakes = false

  var committed: [JournalEntry] { memory.entries }

  func begin(
    _ entries: [JournalEntry], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    begun.append(entries)
    ends.append(ended)
  }

  /// Ends the oldest transaction.
  func end() {
    let (entries, ended) = (begun.removeFirst(), ends.removeFirst())
    defer { if begun.isEmpty { hasFailed = false } }
    if hasFailed, !overtakes { return ended(.failure(Skipped())) }
    do {
      try commit(entries)
      ended(.success(()))
    } catch {
      hasFailed = true
      ended(.failure(error))
    }
  }

  func beginLoading(
    _ session: SessionHandle,
    ended: @escaping @Sendable (Result<LoadedSession, any Error>) -> Void
  ) {
    loading = { [memory] in ended(Result { try memory.load(session) }) }
  }

  func beginReleasing(
    _ sessions: [SessionHandle], ended: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    ended(.success(()))
  }

  func endLoading() { loading?() }

  func commit(_ entries: [JournalEntry]) throws {
    if entries.contains(where: { tooLarge.contains($0.session) }) { throw Large() }
    try memory.commit(entries)
  }

  func load() throws -> JournalContents { try memory.load() }
  func start() throws -> JournalStart { try memory.start() }
  func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    try memory.continuing(after: position, limit: limit)
  }
  func endExpired(at time: Duration, limit: Int) throws -> Int {
    try memory.endExpired(at: time, limit: limit)
  }
  func load(_ session: SessionHandle) throws -> LoadedSession { try memory.load(session) }
}
