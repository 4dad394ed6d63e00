// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteFiles

@Suite("Opening and closing a database file")
struct OpeningTests {
  @Test("the folder and its files are created on first use, accessible only to their owner")
  func permissions() async throws {
    try await withFolder { folder in
      let (database, files) = (SharedDatabase(folder), FileManager.default)
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

  @Test(
    "the error names the reason why a folder cannot be created",
    arguments: [
      ("/proc/statewire", "No such file or directory"), ("file/in", "Not a directory"),
      ("file", "a file has this name"),
    ])
  func missingFolder(path: String, reason: String) async throws {
    try await withFolder { folder in
      try Data().write(
        to: URL(filePath: folder).deletingLastPathComponent().appending(path: "file"))
      let path =
        path.hasPrefix("/") ? path : folder.replacingOccurrences(of: "data", with: path)
      let error = try await failure(toOpen: SharedDatabase(path))
      #expect(error.code == .folderMissing)
      #expect(error.message == "The folder \(path) cannot be created: \(reason).")
    }
  }

  @Test(
    "the error states that the folder is not writable", .disabled(if: geteuid() == 0, "root may"))
  func readOnlyFolder() async throws {
    try await withFolder { folder in
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
      let error = try await failure(toOpen: SharedDatabase(folder))
      #expect(error.code == .notWritable)
      #expect(error.message == "\(folder)/statewire.sqlite cannot be written: Permission denied.")
    }
  }

  @Test("the error states that a folder has the name of the file")
  func folderForFile() async throws {
    try await withFolder { folder in
      try FileManager.default.makeFolder(folder)
      try FileManager.default.makeFolder("\(folder)/statewire.sqlite")
      let error = try await failure(toOpen: SharedDatabase(folder))
      #expect(error.code == .notSafe)
      #expect(
        error.message == "\(folder)/statewire.sqlite is not a regular file: move it away.")
    }
  }

  @Test("the error states that a file is not a database, and the file is not changed")
  func noDatabase() async throws {
    try await withFolder { folder in
      try FileManager.default.makeFolder(folder)
      let file = URL(filePath: "\(folder)/statewire.sqlite")
      let content = Data(String(repeating: "No database, but prose. ", count: 1000).utf8)
      try content.write(to: file)
      let error = try await failure(toOpen: SharedDatabase(folder))
      #expect(error.code == .notADatabase)
      #expect(
        error.message == "The file \(file.path) is not a database or is damaged: "
          + "restore a backup, or move it away.")
      #expect(try Data(contentsOf: file) == content)
    }
  }

  @Test("a database of a newer version is refused, and not changed")
  func newerVersion() async throws {
    try await withFolder { folder in
      let newer = SharedDatabase(folder)
      try await newer.execute("INSERT INTO grdb_migrations VALUES ('fromTheFuture')")
      await newer.close()
      let file = URL(filePath: "\(folder)/statewire.sqlite")
      let content = try Data(contentsOf: file)
      let error = try await failure(toOpen: SharedDatabase(folder))
      #expect(error.code == .newerVersion)
      #expect(
        error.message
          == "The database in \(folder) was written by a newer version of this program: "
          + "run that version, or use another folder.")
      #expect(try Data(contentsOf: file) == content)
    }
  }

  @Test("a new component gets its tables in an existing file, and an unnamed component is refused")
  func parts() async throws {
    try await withFolder { folder in
      let first = SharedDatabase(folder, things)
      try await first.open()
      await first.close()
      let others = Schema([
        Schema.Migration("others", "CREATE TABLE other (id INTEGER PRIMARY KEY)")
      ])
      let both = SharedDatabase(folder, others, things)
      try await both.execute(
        "INSERT INTO thing DEFAULT VALUES; INSERT INTO other DEFAULT VALUES")
      await both.close()
      let error = try await failure(toOpen: SharedDatabase(folder, things))
      #expect(error.code == .newerVersion)
    }
  }

  @Test(
    "commits wait for the disk if they must survive a power failure",
    arguments: [(.process, 1), (.power, 2)] as [(Durability, Int)])
  func durability(_ durability: Durability, synchronous: Int) async throws {
    try await withFolder { folder in
      let database = SharedDatabase(
        folder: folder, name: "things.sqlite", schemas: [things], durability: durability,
        failed: { _ in })
      let number = try await database.synchronous()
      #expect(number == synchronous)
      await database.close()
    }
  }

  @Test("the error states that another process is opening the folder, after the busy timeout")
  func lockedFolder() async throws {
    try await withFolder { folder in
      let place = DatabaseFolder(path: folder)
      try place.create()
      try place.exclusively(within: .zero) { () throws(StorageError) in
        let other = file(in: folder, busyTimeout: .milliseconds(20))
        let error = #expect(throws: StorageError.self) { try other.open() }
        #expect(error?.code == .locked)
        #expect(error?.message == "The folder \(folder) is locked by another process.")
      }
    }
  }

  @Test("several processes can open a new folder at the same time")
  func opening() async throws {
    for _ in 1...10 {
      try await withFolder { folder in
        let databases = (1...4).map { _ in SharedDatabase(folder) }
        try await withThrowingTaskGroup { group in
          for database in databases { group.addTask { try await database.open() } }
          try await group.waitForAll()
        }
        for database in databases { await database.close() }
      }
    }
  }

  // The log stated that the database had failed.
  @Test("a statement that is interrupted by a cancellation does not count as a failure")
  func interrupted() async {
    let (error, file) = (DatabaseError(resultCode: .SQLITE_ABORT), file(in: "folder"))
    #expect(StorageError(error, of: file).code == .failed)
    let code = await withTaskGroup(of: StorageError.Code.self) { group in
      group.cancelAll()
      group.addTask { StorageError(error, of: file).code }
      return await group.next()
    }
    #expect(code == .cancelled)
  }
}

extension SharedDatabase {
  fileprivate convenience init(_ folder: String) { self.init(folder, things) }

  /// Returns SQLite's `synchronous` mode, which sets how commits wait for the disk.
  fileprivate func synchronous() async throws -> Int? {
    try await use { database in
      try await database.onWriter { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    }
  }
}

private let things = Schema([
  Schema.Migration("things", "CREATE TABLE thing (id INTEGER PRIMARY KEY)")
])

private func file(in folder: String, busyTimeout: Duration = .zero) -> DatabaseFile {
  DatabaseFile(
    folder: folder, name: "things.sqlite", schemas: [things], busyTimeout: busyTimeout,
    durability: .process, missing: { _ in })
}

/// Returns the error of an open that fails.
private func failure(toOpen database: SharedDatabase) async throws -> StorageError {
  try #require(await #expect(throws: StorageError.self) { try await database.open() })
}
