// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Foundation
import Sessions
import StateMachines
import Testing

@testable import Persistence

/// What can happen to the files of a database that is open.
enum Loss: String, CaseIterable, CustomTestStringConvertible {
  case deleted, moved, replaced, logDeleted, logReplaced, folderMoved, folderDeleted, folderReplaced

  var testDescription: String { rawValue }

  /// Does it to a file and its folder.
  /// - Returns: What takes it back; nil where nothing can.
  func happen(to name: String, in folder: String) throws -> (() throws -> Void)? {
    let (files, file, log) = (FileManager.default, "\(folder)/\(name)", "\(folder)/\(name)-wal")
    func move(_ path: String) throws -> () throws -> Void {
      try files.moveItem(atPath: path, toPath: path + "-away")
      return {
        if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
        try files.moveItem(atPath: path + "-away", toPath: path)
      }
    }
    switch self {
    case .deleted: try files.removeItem(atPath: file)
    case .moved: return try move(file)
    case .replaced:
      let takeBack = try move(file)
      try files.copyItem(atPath: file + "-away", toPath: file)
      return takeBack
    case .logDeleted: try files.removeItem(atPath: log)
    case .logReplaced:
      let takeBack = try move(log)
      try Data().write(to: URL(filePath: log))
      return takeBack
    case .folderMoved: return try move(folder)
    case .folderDeleted: try files.removeItem(atPath: folder)
    case .folderReplaced:
      let takeBack = try move(folder)
      try files.copyItem(atPath: folder + "-away", toPath: folder)
      return takeBack
    }
    return nil
  }
}

@Suite("Files of a database that are deleted, moved or replaced while it is open")
struct MissingFileTests {
  @Test(
    "lists and the ledger fail, the log says it once, and they continue once it is back",
    arguments: Loss.allCases)
  func database(loss: Loss) async throws {
    try await withFolder { folder in
      let complaints = Complaints()
      let database = EmbeddedDatabase(folder, complaints: complaints)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a")
      try await database.post(amount: #require(DecimalNumber("1")))
      let takeBack = try loss.happen(to: "statewire.sqlite", in: folder)
      try await store.add("b", "c")
      try await store.send(.load)
      #expect(await store.answers == ["done", "failed", "failed"])
      #expect(await store.fed == ["list of 0", "add a", "failed"])
      for _ in 0..<2 {
        await expectMissing { try await database.post(amount: DecimalNumber("1") ?? .zero) }
        await expectMissing { _ = try await database.ledgerBalance() }
      }
      #expect(complaints.all.count == 1, "\(complaints.all)")
      #expect(complaints.all.first?.contains("\(folder)/statewire.sqlite") == true)
      #expect(complaints.all.first?.contains("move the original file back, or restart") == true)
      if let takeBack {
        try takeBack()
        try await store.send(.load)
        try await store.add("d")
        #expect(await store.todos.map(\.title) == ["a", "d"])
        #expect(await store.answers.last == "done")
        #expect(try await database.ledgerBalance().balance == DecimalNumber("1"))
        #expect(complaints.all.count == 1)
        // Another incident is told as well.
        _ = try Loss.moved.happen(to: "statewire.sqlite", in: folder)
        try await store.add("e")
        #expect(complaints.all.count == 2)
      }
      await store.close()
      await database.close()
    }
  }

  @Test("a feed that nobody asks anything is looked after as well")
  func run() async throws {
    try await withFolder { folder in
      let (clock, complaints) = (ManualClock(), Complaints())
      let database = EmbeddedDatabase(folder, clock: clock, complaints: complaints)
      let store = try await Host(database)
      try await store.send(.load)
      let running = Task { await database.run() }
      _ = try Loss.moved.happen(to: "statewire.sqlite", in: folder)
      while complaints.all.isEmpty {
        await clock.untilSomebodySleeps()
        clock.advance(by: EmbeddedDatabase.pollInterval)
      }
      #expect(complaints.all.first?.contains("was deleted, moved or replaced") == true)
      running.cancel()
      await running.value
      await store.close()
      await database.close()
    }
  }

  @Test("what was committed before a log was deleted is there after the next start")
  func closing() async throws {
    try await withFolder { folder in
      let database = EmbeddedDatabase(folder)
      let store = try await Host(database)
      try await store.add("a")
      _ = try Loss.logDeleted.happen(to: "statewire.sqlite", in: folder)
      try await store.add("b")
      await store.close()
      await database.close()
      #expect(try await titles(folder) == ["a"])
    }
  }

  @Test(
    "the session journal commits nothing, and continues once it is back",
    arguments: Loss.allCases)
  func journal(loss: Loss) async throws {
    try await withFolder { folder in
      var numbers = FixedNumbers(seed: 1)
      let handles = (0..<3).map { _ in SessionHandle(using: &numbers) }
      func opened(_ index: Int) -> [JournalEntry] {
        [JournalEntry(handles[index], .opened(owner: nil))]
      }
      // Also where the file was there before.
      try SQLiteJournal(folder: folder).commit(opened(0))
      let journal = try SQLiteJournal(folder: folder)
      let takeBack = try loss.happen(to: "sessions.sqlite", in: folder)
      for _ in 0..<2 {
        let error = #expect(throws: PersistenceError.self) { try journal.commit(opened(1)) }
        #expect(error?.code == .fileMissing)
        #expect(error?.message.contains("\(folder)/sessions.sqlite") == true)
      }
      guard let takeBack else { return }
      try takeBack()
      try journal.commit(opened(2))
      #expect(Set(try journal.load().sessions.map(\.handle)) == [handles[0], handles[2]])
    }
  }

  private func expectMissing(_ body: () async throws -> Void) async {
    let error = await #expect(throws: PersistenceError.self) { try await body() }
    #expect(error?.code == .fileMissing)
  }
}
