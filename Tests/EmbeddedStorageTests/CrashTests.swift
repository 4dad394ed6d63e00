// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal
@testable import Sessions

@Suite("Crashes of restored work", .timeLimit(.minutes(15)))
struct CrashTests {
  private static let one = String(repeating: "1", count: 32)
  private static let two = String(repeating: "a", count: 32)

  @Test("crashes of the process count, and signals from outside do not", arguments: [true, false])
  func signals(aborts: Bool) async throws {
    try await withFolder { folder in
      try FileManager.default.makeFolder(folder)
      await #expect(processExitsWith: .failure) {
        [folder = folder as String, one = Self.one as String, aborts = aborts as Bool] in
        leaveOutBacktrace()
        try CrashFile(folder: folder).perform(for: #require(SessionHandle(one))) {
          if aborts { abort() } else { raise(SIGSEGV) }
        }
      }
      let lines = try String(contentsOfFile: "\(folder)/crashes", encoding: .utf8)
      #expect(lines == (aborts ? "\(Self.one)\n" : ""))
    }
  }

  @Test(
    "after two crashes only the session that causes them is set aside, for work of any kind",
    arguments: [.restart, .recursion, .effect, .action] as [Mine.Place])
  func setAside(place: Mine.Place) async throws {
    try await withFolder { folder in
      try plant([(Self.one, place), (Self.two, .nowhere)], in: folder)
      let path = "\(folder)/crashes"
      for count in 1...2 {
        await #expect(processExitsWith: .failure) { [folder = folder as String] in
          leaveOutBacktrace()
          try await live(folder) { shard, ended in
            _ = try shard.restore()
            // Both sessions end their work only if neither crashes.
            try await ended.reaches(2)
          }
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8)
        #expect(lines == String(repeating: "\(Self.one)\n", count: count))
      }
      await #expect(processExitsWith: .success) {
        [
          folder = folder as String, one = Self.one as String, two = Self.two as String
        ] in
        try await live(folder) { shard, _ in
          let damage = try shard.restore()
          #expect(damage.count == 1)
          #expect(damage.first?.contains("\(one.prefix(8))... is set aside") == true)
          #expect(damage.first?.contains(#""mine" of kind "mine""#) == true)
          let deaf = SilentClient()
          #expect(throws: SessionError.self) {
            try shard.attach(deaf, to: #require(SessionHandle(one)))
          }
          _ = try shard.attach(deaf, to: #require(SessionHandle(two)))
        }
      }
      // Without the crash file, for example in a later version, the session can be restored.
      try FileManager.default.removeItem(atPath: path)
      let contents = try SQLiteJournal(folder: folder, countsCrashes: true).load()
      let session = try #require(contents.sessions.first { $0.handle.description == Self.one })
      #expect(!session.isSetAside)
      #expect(session.stores.map(\.accepted.count) == [1])
    }
  }

  /// Writes a journal in which each session has an input with running effects.
  private func plant(_ mines: [(handle: String, place: Mine.Place)], in folder: String) throws {
    let journal = try SQLiteJournal(folder: folder)
    for (handle, place) in mines {
      let handle = try #require(SessionHandle(handle))
      let input = #"{"type":"trodOn","place":"\#(place.rawValue)"}"#
      let events: [JournalEntry.StoreEvent] = [
        .opened(kind: "mine", configuration: Array("{}".utf8), revision: 0),
        .state(.text(Array(#"{"count":0}"#.utf8)), revision: 0),
        .accepted(
          operation: 1, epoch: 1, input: Array(input.utf8), at: SystemClock().sinceEpoch),
      ]
      try journal.commit(
        [JournalEntry(handle, .opened(owner: nil))]
          + events.map { JournalEntry(handle, .store("mine", $0)) })
    }
  }
}

/// Disables the backtrace of the Swift runtime, which takes long, for a process that crashes.
private func leaveOutBacktrace() {
  for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE] { signal(number, SIG_DFL) }
}

/// A machine that crashes its process when an input is restarted.
struct Mine: DurableMachine {
  enum Place: String, Codable, Sendable { case nowhere, restart, recursion, effect, action }
  enum Input: Codable, Sendable { case trodOn(place: Place) }
  enum Action: Sendable { case exploded }
  struct State: Codable, Sendable { var count = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    .after(.seconds(3600), .action(.exploded))
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    switch input {
    case .trodOn(.nowhere): return .none
    case .trodOn(.restart): fatalError("mine")
    case .trodOn(.recursion): return .after(.seconds(Self.endless(elapsed)), .action(.exploded))
    case .trodOn(.effect): return .run("explode") { _ in fatalError("mine") }
    case .trodOn(.action): return .run("explode") { await $0.send(.exploded) }
    }
  }

  func reduce(_ state: inout State, _ action: Action) { fatalError("mine") }

  /// Overflows the stack.
  @inline(never) @_optimize(none)
  private static func endless(_ time: Duration) -> Int {
    time < .zero ? 0 : endless(time + .seconds(1)) + endless(time)
  }
}

/// Runs `body` in a process with a folder: a shard with a journal, on its own queue, and the
/// sessions whose restored work has ended.
private func live(
  _ folder: String,
  _ body: @Sendable (isolated Shard, Record<SessionHandle>) async throws -> Void
) async throws {
  let ended = Record<SessionHandle>()
  // Long enough for a busy machine.
  var limits = SessionLimits()
  limits.timeToLive = .seconds(100_000)
  let shard = Shard(
    executor: QueueExecutor(), kinds: [StoreKind("mine") { Mine() }], limits: limits,
    journal: WatchedJournal(try SQLiteJournal(folder: folder, countsCrashes: true), ended))
  try await body(shard, ended)
}

/// A journal that records the sessions whose restored work has ended.
private final class WatchedJournal: SessionJournal {
  private final class Counter: CrashCounter {
    private let counter: any CrashCounter
    private let noted: Record<SessionHandle>

    init(_ counter: any CrashCounter, _ noted: Record<SessionHandle>) {
      (self.counter, self.noted) = (counter, noted)
    }

    func perform(for session: SessionHandle, _ body: () -> Void) {
      counter.perform(for: session, body)
    }

    func ended(_ session: SessionHandle) {
      counter.ended(session)
      noted.add(session)
    }
  }

  private let journal: SQLiteJournal
  let crashes: (any CrashCounter)?

  init(_ journal: SQLiteJournal, _ ended: Record<SessionHandle>) {
    self.journal = journal
    crashes = journal.crashes.map { Counter($0, ended) }
  }

  func commit(_ entries: [JournalEntry]) throws { try journal.commit(entries) }

  func load() throws -> JournalContents { try journal.load() }

  func start() throws -> JournalStart { try journal.start() }

  func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    try journal.continuing(after: position, limit: limit)
  }

  func endExpired(at time: Duration, limit: Int) throws -> Int {
    try journal.endExpired(at: time, limit: limit)
  }

  func load(_ session: SessionHandle) throws -> LoadedSession { try journal.load(session) }
}
