// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Foundation
import SQLiteFiles
import StateMachines
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteTodoDatabase

@Suite("Lists in a file that is opened and closed")
struct OpeningTests {
  @Test("a reopened database contains the todos that it had when it was closed")
  func reopening() async throws {
    try await withFolder { folder in
      let ids = CountedIDs()
      for count in 0...3 {
        let database = TodoDatabase(folder, ids: ids)
        let store = try await Host(database)
        try await store.send(.load)
        #expect(await store.fed == ["list of \(count)"])
        try await store.add("a")
        await store.close()
        await database.close()
      }
    }
  }

  @Test("completed operations persist after the process is killed")
  func killed() async throws {
    try await withFolder { folder in
      let database = TodoDatabase(folder)
      let store = try await Host(database)
      try await store.add("a", "b", "c")
      // A copy of the files is in the same state as after a kill.
      let copy = folder + "-copy"
      try FileManager.default.copyItem(atPath: folder, toPath: copy)
      let survivor = TodoDatabase(copy)
      let other = try await Host(survivor)
      try await other.send(.load)
      #expect(await other.todos.map(\.title) == ["a", "b", "c"])
      for store in [store, other] { await store.close() }
      for database in [database, survivor] { await database.close() }
    }
  }

  @Test("the log states that another process has locked the database")
  func locked() async throws {
    try await withFolder { folder in
      let (first, complaints) = (TodoDatabase(folder), RecordedFailures())
      let second = TodoDatabase(folder, busyTimeout: .zero, complaints: complaints)
      let store = try await Host(second)
      try await store.send(.load)
      try await first.file.whileWriting { try await store.add("a") }
      #expect(await store.results == ["failed"])
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

  @Test("after a failure, the next use opens the database again")
  func retry() async throws {
    try await withFolder { folder in
      try Data().write(to: URL(filePath: folder))
      let complaints = RecordedFailures()
      let database = TodoDatabase(folder, complaints: complaints)
      let store = try await Host(database)
      try await store.send(.load)
      try await store.add("a secret")
      #expect(await store.fed == ["failed"])
      #expect(await store.results == ["failed"])
      #expect(
        complaints.all == [
          "The todo list could not be read: "
            + "The folder \(folder) cannot be created: a file has this name.",
          "addTodo could not be carried out: "
            + "The folder \(folder) cannot be created: a file has this name.",
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
    "all operations fail after the database is closed, whether it was opened or not",
    arguments: [true, false])
  func closed(opened: Bool) async throws {
    try await withFolder { folder in
      let complaints = RecordedFailures()
      let database = TodoDatabase(folder, complaints: complaints)
      let store = try await Host(database)
      if opened { try await store.send(.load) }
      await database.close()
      await database.close()
      try await store.add("a")
      try await store.send(.load)
      #expect(await store.results == ["failed"])
      #expect(await store.fed == (opened ? ["list of 0", "failed"] : ["failed"]))
      #expect(
        complaints.all == [
          "addTodo could not be carried out: The database has been closed.",
          "The todo list could not be read: The database has been closed.",
        ])
      let error = await #expect(throws: StorageError.self) { try await database.file.open() }
      #expect(error?.code == .closed)
      await database.run()
      await store.close()
    }
  }

  @Test("closing the database completes the running operations")
  func closing() async throws {
    for _ in 1...20 {
      try await withFolder { folder in
        let database = TodoDatabase(folder)
        let store = try await Host(database)
        try await store.send(.load)
        var inputIDs: [InputID] = []
        for number in 1...20 {
          inputIDs.append(try await store.begin(.perform(.add(title: "\(number)"))))
        }
        await database.close()
        for inputID in inputIDs { await store.settlement(of: inputID) }
        let results = await store.results
        await store.close()
        let reopened = TodoDatabase(folder)
        let other = try await Host(reopened)
        try await other.send(.load)
        #expect(results.count == 20)
        #expect(await other.todos.count == results.count { $0 == "done" })
        await other.close()
        await reopened.close()
      }
    }
  }
}
