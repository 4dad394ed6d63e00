// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import StateMachines
import Testing

@testable import Persistence
@testable import Sessions

@Suite("Crashes of restored work", .timeLimit(.minutes(5)))
struct CrashTests {
  private static let one = String(repeating: "1", count: 32)
  private static let two = String(repeating: "a", count: 32)

  @Test(
    "are counted from the last line that says that restored work has ended",
    arguments: [
      ("", 0, 0),
      ("\(one)\n", 1, 0),
      ("\(one)\n\(two)\n\(one)\n", 2, 0),
      ("\(one)\n\(one)\n\(one) ended\n", 0, 0),
      ("\(one)\n\(one) ended\n\(one)\n", 1, 0),
      ("\(one)\n\(two) ended\n\n\(one)", 2, 0),
      ("\(one)\n\u{0}\u{1}\n\(one)\(one)\n\(one) ende\n \(one)\n", 1, 4),
    ])
  func counted(text: String, crashes: Int, unreadable: Int) throws {
    let handle = try #require(SessionHandle(Self.one))
    let counted = CrashFile.count(Array(text.utf8))
    #expect(counted.crashes[handle, default: 0] == crashes)
    #expect(counted.unreadable == unreadable)
  }

  @Test("a session is set aside after two, and not once its restored work has ended")
  func decision() async throws {
    try await withFolder { folder in
      let (one, two) = try (
        #require(SessionHandle(Self.one)), #require(SessionHandle(Self.two))
      )
      try FileManager.default.makeFolder(folder)
      _ = try CrashFile(folder: folder)
      let path = "\(folder)/crashes"
      #expect(try FileManager.default.permissions(path) == 0o600)
      try append("\(one)\n\(two)\n\(one)\n", to: path)
      let crashes = try CrashFile(folder: folder)
      #expect(crashes.isSetAside(one) && !crashes.isSetAside(two))
      crashes.ended(two)
      crashes.ended(two)
      #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix("\(one)\n\(two) ended\n"))
      try append("\(two)\n", to: path)
      let later = try CrashFile(folder: folder)
      #expect(later.isSetAside(one) && !later.isSetAside(two))
    }
  }

  @Test("are those that the process causes, not signals that are sent", arguments: [true, false])
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
    "lines that cannot be read are reported and ignored; a link in place of the file is refused")
  func garbage() async throws {
    try await withFolder { folder in
      _ = try SQLiteJournal(folder: folder, countsCrashes: true)
      let line = [UInt8](repeating: 0xFF, count: 3 << 20) + Array("\n".utf8)
      try Data(line).write(to: URL(filePath: "\(folder)/crashes"))
      let damage = try SQLiteJournal(folder: folder, countsCrashes: true).load().damage
      #expect(
        damage == [
          """
          1 lines of \(folder)/crashes are ignored, since they cannot be read. Delete the file to be rid of them; the \
          next start then also restores the sessions that are set aside.
          """
        ])
      try FileManager.default.removeItem(atPath: "\(folder)/crashes")
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/crashes", withDestinationPath: "/dev/null")
      #expect(throws: PersistenceError.self) {
        try SQLiteJournal(folder: folder, countsCrashes: true)
      }
    }
  }

  @Test(
    "set a session aside after the second one, wherever its work is, and no other",
    arguments: [.restart, .recursion, .effect, .action] as [Mine.Place])
  func setAside(place: Mine.Place) async throws {
    try await withFolder { folder in
      try plant([(Self.one, place), (Self.two, .nowhere)], in: folder)
      let path = "\(folder)/crashes"
      for count in 1...2 {
        await #expect(processExitsWith: .failure) { [folder = folder as String] in
          leaveOutBacktrace()
          try await live(folder) { shard in
            _ = try shard.restore()
            while !shard.restored.isEmpty { await Task.yield() }
          }
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8)
        #expect(lines == String(repeating: "\(Self.one)\n", count: count))
      }
      await #expect(processExitsWith: .success) {
        [
          folder = folder as String, one = Self.one as String, two = Self.two as String
        ] in
        try await live(folder) { shard in
          let said = try shard.restore()
          #expect(said.count == 1)
          #expect(said.first?.contains("\(one.prefix(8))... is set aside") == true)
          #expect(said.first?.contains(#""mine" of kind "mine""#) == true)
          let deaf = Deaf()
          #expect(throws: SessionError.self) {
            try shard.attach(deaf, to: #require(SessionHandle(one)))
          }
          _ = try shard.attach(deaf, to: #require(SessionHandle(two)))
        }
      }
      // A later version can restore it.
      try FileManager.default.removeItem(atPath: path)
      let contents = try SQLiteJournal(folder: folder, countsCrashes: true).load()
      let session = try #require(contents.sessions.first { $0.handle.description == Self.one })
      #expect(!session.isSetAside)
      #expect(session.stores.map(\.accepted.count) == [1])
    }
  }

  /// Writes a journal in which each session has an input whose effects have not ended.
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

  private func append(_ text: String, to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}

/// Ends a process that crashes without the backtrace of the Swift runtime, which takes long.
private func leaveOutBacktrace() {
  for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE] { signal(number, SIG_DFL) }
}

/// A machine that crashes its process after a restart.
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

  /// Fills the stack.
  @inline(never) @_optimize(none)
  private static func endless(_ time: Duration) -> Int {
    time < .zero ? 0 : endless(time + .seconds(1)) + endless(time)
  }
}

/// One process over a folder: a shard with its journal, on a loop of its own.
private func live(
  _ folder: String, _ body: @Sendable (isolated Shard) async throws -> Void
) async throws {
  let shard = Shard(
    executor: Loop(), kinds: [StoreKind("mine") { Mine() }],
    journal: try SQLiteJournal(folder: folder, countsCrashes: true))
  try await body(shard)
}

private final class Loop: SerialExecutor {
  private let queue = DispatchQueue(label: "shard")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
