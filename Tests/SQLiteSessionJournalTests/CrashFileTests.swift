// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteFiles
import Sessions
import StorageTestSupport
import TestSupport
import Testing

@testable import SQLiteSessionJournal

@Suite("Crash file")
struct CrashFileTests {
  private static let one = String(repeating: "1", count: 32)
  private static let two = String(repeating: "a", count: 32)

  @Test(
    "crashes count from the last line that states the end of a session's restored work",
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

  @Test("a session is set aside after two crashes, but not if its restored work has ended")
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

  @Test(
    "unreadable lines are reported and ignored, and a symbolic link as the file is refused")
  func garbage() async throws {
    try await withFolder { folder in
      _ = try SQLiteJournal(folder: folder, countsCrashes: true)
      let line = [UInt8](repeating: 0xFF, count: 3 << 20) + Array("\n".utf8)
      try Data(line).write(to: URL(filePath: "\(folder)/crashes"))
      let damage = try SQLiteJournal(folder: folder, countsCrashes: true).load().damage
      #expect(
        damage == [
          """
          1 lines of \(folder)/crashes cannot be read and are ignored. Delete the file to remove them; the \
          next start then also restores the sessions that are set aside.
          """
        ])
      try FileManager.default.removeItem(atPath: "\(folder)/crashes")
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/crashes", withDestinationPath: "/dev/null")
      #expect(throws: StorageError.self) {
        try SQLiteJournal(folder: folder, countsCrashes: true)
      }
    }
  }

  private func append(_ text: String, to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}
