// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Foundation
import StateMachines
import StatewireProtocol
import Testing

@testable import Persistence

@Suite("Opening and closing the database")
struct OpeningTests {
  @Test("makes the folder and its files for their owner alone, when they are needed")
  func permissions() async throws {
    try await withFolder { folder in
      let (database, files) = (EmbeddedDatabase(folder), FileManager.default)
      #expect(!files.fileExists(atPath: folder))
      try await database.open()
      #expect(try files.permissions(folder) == 0o700)
      for name in try files.contentsOfDirectory(atPath: folder) {
        #expect(try files.permissions("\(folder)/\(name)") == 0o600, "\(name)")
      }
      await database.close()
      #expect(try files.contentsOfDirectory(atPath: folder) == ["statewire.sqlite"])
    }
  }

  @Test("finds what was there when it was closed")
  func reopening() async throws {
    try await withFolder { folder in
      let ids = CountedIDs()
      for count in 0...3 {
        let database = EmbeddedDatabase(folder, ids: ids)
        let store = try await Host(database)
        try await store.send(.load)
        #expect(await store.fed == ["list of \(count)"])
        try await store.add("a")
        await store.close()
        await database.close()
      }
    }
  }

  @Test("finds what was answered before the process was killed")
  func killed() async throws {
    try await withFolder { folder in
      let database = EmbeddedDatabase(folder)
      let store = try await Host(database)
      try await store.add("a", "b", "c")
      // The files as they are now are what a killed process leaves behind.
      let copy = folder + "-copy"
      try FileManager.default.copyItem(atPath: folder, toPath: copy)
      let survivor = EmbeddedDatabase(copy)
      let other = try await Host(survivor)
      try await other.send(.load)
      #expect(await other.todos.map(\.title) == ["a", "b", "c"])
      for store in [store, other] { await store.close() }
      for database in [database, survivor] { await database.close() }
    }
  }

  @Test(
    "says what is wrong with a folder that cannot be",
    arguments: [
      ("/proc/statewire", "No such file or directory"), ("file/in", "Not a directory"),
      ("file", "a file is there"),
    ])
  func missingFolder(path: String, reason: String) async throws {
    try await withFolder { folder in
      try Data().write(
        to: URL(filePath: folder).deletingLastPathComponent().appending(path: "file"))
      let path =
        path.hasPrefix("/") ? path : folder.replacingOccurrences(of: "data", with: path)
      let error = try await failure(toOpen: EmbeddedDatabase(path))
      #expect(error.code == .folderMissing)
      #expect(error.message == "The folder \(path) cannot be made: \(reason).")
    }
  }

  @Test("says that a folder may not be written", .disabled(if: geteuid() == 0, "root may"))
  func readOnlyFolder() async throws {
    try await withFolder { folder in
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
      let error = try await failure(toOpen: EmbeddedDatabase(folder))
      #expect(error.code == .notWritable)
      #expect(error.message == "\(folder)/statewire.sqlite cannot be written: Permission denied.")
    }
  }

  @Test("says that a folder stands where the file should")
  func folderForFile() async throws {
    try await withFolder { folder in
      try FileManager.default.makeFolder(folder)
      try FileManager.default.makeFolder("\(folder)/statewire.sqlite")
      let error = try await failure(toOpen: EmbeddedDatabase(folder))
      #expect(error.code == .notSafe)
      #expect(
        error.message == "\(folder)/statewire.sqlite is not a regular file: move it away.")
    }
  }

  @Test("says that a file is no database, and leaves it as it is")
  func noDatabase() async throws {
    try await withFolder { folder in
      try FileManager.default.makeFolder(folder)
      let file = URL(filePath: "\(folder)/statewire.sqlite")
      let content = Data(String(repeating: "No database, but prose. ", count: 1000).utf8)
      try content.write(to: file)
      let error = try await failure(toOpen: EmbeddedDatabase(folder))
      #expect(error.code == .notADatabase)
      #expect(error.message == "The file \(file.path) is no database, or damaged.")
      #expect(try Data(contentsOf: file) == content)
    }
  }

  @Test("refuses what a newer version has written, and leaves it as it is")
  func newerVersion() async throws {
    try await withFolder { folder in
      let newer = EmbeddedDatabase(folder)
      try await newer.execute("INSERT INTO grdb_migrations VALUES ('fromTheFuture')")
      await newer.close()
      let file = URL(filePath: "\(folder)/statewire.sqlite")
      let content = try Data(contentsOf: file)
      let error = try await failure(toOpen: EmbeddedDatabase(folder))
      #expect(error.code == .newerVersion)
      #expect(
        error.message
          == "The database in \(folder) was written by a newer version of this program.")
      #expect(try Data(contentsOf: file) == content)
    }
  }

  @Test("says that another process has locked the database")
  func locked() async throws {
    try await withFolder { folder in
      let (first, complaints) = (EmbeddedDatabase(folder), Complaints())
      let second = EmbeddedDatabase(folder, busyTimeout: .zero, complaints: complaints)
      let store = try await Host(second)
      try await store.send(.load)
      try await first.whileWriting { try await store.add("a") }
      #expect(await store.answers == ["failed"])
      #expect(
        complaints.all == [
          "addTodo could not be carried out: The database in \(folder) is locked by another process."
        ])
      try await store.add("b")
      #expect(await store.fed == ["list of 0", "add b"])
      await store.close()
      for database in [first, second] { await database.close() }
    }
  }

  @Test(
    "waits for the disk where commits are to outlive lost power",
    arguments: [(.process, 1), (.power, 2)] as [(Durability, Int)])
  func durability(_ durability: Durability, synchronous: Int) async throws {
    try await withFolder { folder in
      let database = EmbeddedDatabase(folder: folder, durability: durability) { _ in }
      let number = try await database.synchronous()
      #expect(number == synchronous)
      await database.close()
    }
  }

  @Test("says that another process is opening the folder, after a while")
  func lockedFolder() async throws {
    try await withFolder { folder in
      let place = DatabaseFolder(path: folder)
      try place.create()
      try place.exclusively(within: .zero) { () throws(PersistenceError) in
        let other = DatabaseFile(
          folder: folder, busyTimeout: .milliseconds(20), durability: .process, missing: { _ in })
        let error = #expect(throws: PersistenceError.self) { try other.open() }
        #expect(error?.code == .locked)
        #expect(error?.message == "The folder \(folder) is locked by another process.")
      }
    }
  }

  @Test("is tried again by the next use after a failure")
  func retry() async throws {
    try await withFolder { folder in
      try Data().write(to: URL(filePath: folder))
      let complaints = Complaints()
      let database = EmbeddedDatabase(folder, complaints: complaints)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a secret")
      #expect(await store.fed == ["failed"])
      #expect(await store.answers == ["failed"])
      #expect(
        complaints.all == [
          "The todo list could not be read: The folder \(folder) cannot be made: a file is there.",
          "addTodo could not be carried out: The folder \(folder) cannot be made: a file is there.",
        ])
      try FileManager.default.removeItem(atPath: folder)
      try await store.send(.load)
      try await store.add("a")
      #expect(await store.fed == ["failed", "list of 0", "add a"])
      await store.close()
      await database.close()
    }
  }

  @Test(
    "fails cleanly once it is closed, whether it was ever opened or not", arguments: [true, false])
  func closed(opened: Bool) async throws {
    try await withFolder { folder in
      let complaints = Complaints()
      let database = EmbeddedDatabase(folder, complaints: complaints)
      let store = try await Host(database)
      if opened { try await store.send(.load) }
      await database.close()
      await database.close()
      try await store.add("a")
      try await store.send(.load)
      #expect(await store.answers == ["failed"])
      #expect(await store.fed == (opened ? ["list of 0", "failed"] : ["failed"]))
      #expect(
        complaints.all == [
          "addTodo could not be carried out: The database has been closed.",
          "The todo list could not be read: The database has been closed.",
        ])
      #expect(try await failure(toOpen: database).code == .closed)
      await database.run()
      await store.close()
    }
  }

  @Test("finishes what is in hand when it is closed")
  func closing() async throws {
    for _ in 1...20 {
      try await withFolder { folder in
        let database = EmbeddedDatabase(folder)
        let store = try await Host(database)
        try await store.send(.load)
        var tickets: [Ticket] = []
        for number in 1...20 {
          tickets.append(try await store.begin(.perform(.add(title: "\(number)"))))
        }
        await database.close()
        for ticket in tickets { await store.settlement(of: ticket) }
        let answers = await store.answers
        await store.close()
        let reopened = EmbeddedDatabase(folder)
        let other = try await Host(reopened)
        try await other.send(.load)
        #expect(answers.count == 20)
        #expect(await other.todos.count == answers.count { $0 == "done" })
        await other.close()
        await reopened.close()
      }
    }
  }
}

/// Why a database does not open.
private func failure(toOpen database: EmbeddedDatabase) async throws -> PersistenceError {
  try #require(await #expect(throws: PersistenceError.self) { try await database.open() })
}
