// SPDX-License-Identifier: Apache-2.0

import EmbeddedStorage
import Foundation
import SQLiteSessionJournal
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteFiles

/// The story: `lock` or a database could be a symbolic link to another place, and the server
/// accepted a folder that others could write to.
@Suite("Data folders under the control of other users")
struct SafeFolderTests {
  private let files = FileManager.default

  private func failure(_ body: () throws -> Void) throws -> StorageError {
    let error = try #require(throws: StorageError.self) { try body() }
    #expect(error.code == .notSafe, "\(error)")
    return error
  }

  /// Opens one of the three files.
  private func open(_ name: String, in folder: String) async throws {
    switch name {
    case "lock": _ = try FolderLock(folder: folder)
    case "sessions.sqlite": _ = try SQLiteJournal(folder: folder)
    default:
      let database = EmbeddedDatabase(folder)
      let result: Result<Void, any Error>
      do { result = .success(try await database.open()) } catch { result = .failure(error) }
      await database.close()
      try result.get()
    }
  }

  private func failure(toOpen name: String, in folder: String) async throws -> StorageError {
    let error = try await #require(throws: StorageError.self) {
      try await open(name, in: folder)
    }
    #expect(error.code == .notSafe, "\(error)")
    return error
  }

  static let names = ["lock", "sessions.sqlite", "statewire.sqlite"]

  @Test(
    "a symbolic link as a file is refused, and nothing is written through it",
    arguments: names, ["", "-wal", "-journal"])
  func link(_ name: String, _ suffix: String) async throws {
    guard name != "lock" || suffix.isEmpty else { return }
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      let elsewhere = folder + "-elsewhere"
      for isThere in [false, true] {
        if isThere { try Data().write(to: URL(filePath: elsewhere)) }
        try? files.removeItem(atPath: "\(folder)/\(name)\(suffix)")
        try files.createSymbolicLink(
          atPath: "\(folder)/\(name)\(suffix)", withDestinationPath: elsewhere)
        let error = try await failure(toOpen: name, in: folder)
        #expect(
          error.message
            == "\(folder)/\(name)\(suffix) is a symbolic link, which is not followed: "
            + "replace it with the file.")
        #expect(files.contents(atPath: elsewhere) == (isThere ? Data() : nil))
      }
    }
  }

  @Test("a pipe as a file is refused, without waiting for it", arguments: names)
  func pipe(_ name: String) async throws {
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      #expect(mkfifo("\(folder)/\(name)", 0o600) == 0)
      let error = try await failure(toOpen: name, in: folder)
      #expect(error.message == "\(folder)/\(name) is not a regular file: move it away.")
    }
  }

  @Test("a file that others can write to is refused", arguments: names, [0o620, 0o602])
  func writableFile(_ name: String, _ mode: mode_t) async throws {
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      try Data().write(to: URL(filePath: "\(folder)/\(name)"))
      chmod("\(folder)/\(name)", mode)
      // Other users cannot enter the folder.
      try await open(name, in: folder)
      chmod(folder, 0o755)
      let error = try await failure(toOpen: name, in: folder)
      #expect(
        error.message
          == "\(folder)/\(name) can be changed by other users: run chmod go-w on it, "
          + "or use another folder.")
      chmod("\(folder)/\(name)", 0o644)
      try await open(name, in: folder)
    }
  }

  @Test(
    "a folder that others can write to is refused, and stays empty",
    arguments: names, [0o720, 0o702, 0o1777, 0o2775])
  func writableFolder(_ name: String, _ mode: mode_t) async throws {
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      chmod(folder, mode)
      let error = try await failure(toOpen: name, in: folder)
      #expect(
        error.message
          == "\(folder) can be changed by other users: run chmod go-w on it, "
          + "or use another folder.")
      #expect(try files.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test("a folder may be a symbolic link, and others may read it", arguments: names)
  func linkToFolder(_ name: String) async throws {
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      chmod(folder, 0o755)
      let link = folder + "-link"
      try files.createSymbolicLink(atPath: link, withDestinationPath: folder)
      try await open(name, in: link)
      #expect(try files.permissions("\(folder)/\(name)") == 0o600)
    }
  }

  @Test("the owner must be the user of the process or root, and root may use files of others")
  func owners() async throws {
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      let status = try #require(FileStatus(folder))
      let (me, other) = (geteuid(), geteuid() + 1)
      try status.checkOwner(folder, folder: nil, user: me)
      try status.checkOwner(folder, folder: nil, user: 0)
      try status.checkOwner(folder, folder: status, user: 0)
      if me != 0 {
        let error = try failure { try status.checkOwner(folder, folder: nil, user: other) }
        #expect(error.message.hasPrefix("\(folder) belongs to another user (uid \(me)): "))
      }
    }
  }

  @Test("files of another user are refused", .enabled(if: geteuid() == 0), arguments: names)
  func otherOwner(_ name: String) async throws {
    try await withFolder { folder in
      try DatabaseFolder(path: folder).create()
      try Data().write(to: URL(filePath: "\(folder)/\(name)"))
      chmod("\(folder)/\(name)", 0o600)
      chown("\(folder)/\(name)", 65534, 65534)
      let error = try await failure(toOpen: name, in: folder)
      #expect(
        error.message
          == "\(folder)/\(name) belongs to another user (uid 65534): run as that user, "
          + "or use another folder.")
      // If the folder belongs to the other user too, it is root that opens another user's data.
      chown(folder, 65534, 65534)
      try await open(name, in: folder)
      let status = try #require(FileStatus(folder))
      _ = try failure { try status.checkOwner(folder, folder: nil, user: 1) }
    }
  }
}
