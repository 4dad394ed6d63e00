// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Foundation
import StateMachines
import TestSupport
import Testing

@testable import RemoteSources

@Suite("File source", .timeLimit(.minutes(20)))
struct FileSourceTests {
  @Test(
    "a file is JSON if its name says so, otherwise text",
    arguments: [
      ("a.json", #" {"a": 1.50} "#, #"{"a":1.50}"#), ("a.JSON", "[]", "[]"),
      ("a.json", "\u{FEFF}1", "1"), ("a.txt", #"{"a":1}"#, #""{\"a\":1}""#),
      ("json", "hé", #""hé""#), ("a.txt", "", #""""#), (".json", "1", "1"),
    ])
  func value(name: String, text: String, value: String) async throws {
    try await TestFolder.making { folder in
      try folder.write(text, to: name)
      let loaded = try await FileSource(folder: folder.path, name: name).loaded()
      #expect(loaded.value == value)
    }
  }

  @Test(
    "a file that is not what its name says is a failure",
    arguments: [
      ("a.json", "{", "source.notJSON"), ("a.json", "", "source.notJSON"),
      ("a.json", "{}{}", "source.notJSON"),
      ("a.json", "[1e400]", "source.notJSON"),
    ])
  func notJSON(name: String, text: String, failure: String) async throws {
    try await TestFolder.making { folder in
      try folder.write(text, to: name)
      #expect(try await FileSource(folder: folder.path, name: name).loaded().failure == failure)
      try folder.write([0xFF], to: "b.txt")
      let text = try await FileSource(folder: folder.path, name: "b.txt").loaded()
      #expect(text.failure == "source.notText")
    }
  }

  @Test("the file may be in subfolders, and the folder of the operator may be a link")
  func nested() async throws {
    try await TestFolder.making { folder in
      try folder.makeFolder("real/a/b")
      try folder.write("x", to: "real/a/b/c.txt")
      try folder.makeLink("link", to: "real")
      let source = try FileSource(folder: folder.path + "/link", name: "./a//b/./c.txt")
      #expect(try await source.loaded().value == #""x""#)
    }
  }

  @Test("a read waits for a permit, and a read that is cancelled meanwhile does not begin")
  func permits() async throws {
    try await TestFolder.making { folder in
      try folder.write("x", to: "a.txt")
      let permits = AsyncSemaphore(1)
      let source = try FileSource(
        folder: folder.path, name: FileName("a.txt"), maximumBytes: 10, permits: permits)
      await permits.withPermit {
        let waiting = Task { try await source.loaded() }
        await eventually("the read waits") { permits.waiting > 0 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
      }
      #expect(try await source.loaded().value == #""x""#)
    }
  }

  // MARK: - Files outside the folder

  @Test(
    "a name that leads out of the folder or is not a file name is refused at the start",
    arguments: [
      ("..", "the file .. must not be outside of the folder of the sources"),
      ("../a", "the file ../a must not be outside of the folder of the sources"),
      ("a/../../b", "the file a/../../b must not be outside of the folder of the sources"),
      ("a/..", "the file a/.. must not be outside of the folder of the sources"),
      ("/etc/passwd", "the file /etc/passwd must be relative to the folder of the sources"),
      ("///etc/passwd", "the file ///etc/passwd must be relative to the folder of the sources"),
      ("", "the name of a source's file is missing"),
      (".", "the name of a source's file is missing"),
      ("./.", "the name of a source's file is missing"),
      ("a\0b", "a file's name contains a NUL byte"),
    ])
  func leadsOut(name: String, message: String) async throws {
    try await TestFolder.making { folder in
      #expect(throws: SourceError(message)) { try FileSource(folder: folder.path, name: name) }
    }
  }

  @Test("two dots within a name are part of the name")
  func points() async throws {
    try await TestFolder.making { folder in
      try folder.write("x", to: "..a..b")
      #expect(try await FileSource(folder: folder.path, name: "..a..b").loaded().value == #""x""#)
    }
  }

  /// An obstacle at the name `a` or `a/b`, made before or after the start.
  enum Obstacle: CaseIterable {
    case linkToFile, linkWithin, linkToFolder, linkToNowhere, folder, pipe, device
    case fileInsteadOfFolder

    /// The name of the file that the operator gives.
    var name: String {
      switch self {
      case .linkToFolder, .fileInsteadOfFolder: "a/b"
      default: "a"
      }
    }

    func make(in folder: TestFolder) throws {
      switch self {
      case .linkToFile: try folder.makeLink("a", to: "/etc/hostname")
      case .linkWithin:
        try folder.write("x", to: "inside")
        try folder.makeLink("a", to: "inside")
      case .linkToFolder:
        try folder.makeFolder("outside")
        try folder.write("x", to: "outside/b")
        try folder.makeLink("a", to: "outside")
      case .linkToNowhere: try folder.makeLink("a", to: "nowhere")
      case .folder: try folder.makeFolder("a")
      case .pipe: try folder.makePipe("a")
      case .device: try folder.makeLink("a", to: "/dev/zero")
      case .fileInsteadOfFolder: try folder.write("x", to: "a")
      }
    }
  }

  @Test(
    "a name that is not a regular file is refused at the start without waiting",
    arguments: Obstacle.allCases)
  func refusedAtStart(obstacle: Obstacle) async throws {
    try await TestFolder.making { folder in
      try obstacle.make(in: folder)
      #expect(
        throws: SourceError(
          "\(obstacle.name) in \(folder.path) is not a regular file, or its path contains a link")
      ) { try FileSource(folder: folder.path, name: obstacle.name) }
    }
  }

  @Test("a load fails if the file has been replaced by an obstacle", arguments: Obstacle.allCases)
  func swapped(obstacle: Obstacle) async throws {
    try await TestFolder.making { folder in
      if obstacle.name == "a/b" { try folder.makeFolder("a") }
      try folder.write("x", to: obstacle.name)
      let source = try FileSource(folder: folder.path, name: obstacle.name)
      #expect(try await source.loaded().value == #""x""#)
      try folder.remove("a")
      try obstacle.make(in: folder)
      #expect(try await source.loaded() == Loaded(percents: [], failure: "source.notAFile"))
    }
  }

  @Test("a device is refused also without a link")
  func device() {
    #expect(throws: SourceError.self) { try FileSource(folder: "/dev", name: "zero") }
  }

  // MARK: - Missing files

  @Test("a file may appear and disappear, but its folder must exist at the start")
  func missing() async throws {
    try await TestFolder.making { folder in
      let source = try FileSource(folder: folder.path, name: "a/b.txt")
      #expect(try await source.loaded().failure == "source.missing")
      try folder.makeFolder("a")
      #expect(try await source.loaded().failure == "source.missing")
      try folder.write("x", to: "a/b.txt")
      #expect(try await source.loaded().value == #""x""#)
      try folder.remove("a")
      #expect(try await source.loaded().failure == "source.missing")
      try folder.write("x", to: "file")
      for base in [folder.path + "/nowhere", folder.path + "/file", ""] {
        #expect(throws: SourceError("the folder \(base) does not exist or cannot be read")) {
          try FileSource(folder: base, name: "a")
        }
      }
    }
  }

  @Test("a file must be readable", .enabled("root can read every file") { geteuid() != 0 })
  func unreadable() async throws {
    try await TestFolder.making { folder in
      try folder.write("x", to: "a")
      let source = try FileSource(folder: folder.path, name: "a")
      #expect(chmod(folder.path + "/a", 0) == 0)
      #expect(try await source.loaded().failure == "source.unreadable")
      #expect(throws: SourceError("the file a in \(folder.path) cannot be read")) {
        try FileSource(folder: folder.path, name: "a")
      }
    }
  }

  @Test(
    "the failure states why a file cannot be opened",
    arguments: [
      (ENOENT, RemoteFailure.missing), (ELOOP, .notAFile), (ENOTDIR, .notAFile),
      (EACCES, .unreadable), (EIO, .unreadable), (EMFILE, .unreadable),
    ])
  func reasons(number: Int32, failure: RemoteFailure) {
    #expect(RemoteFailure(errno: number) == failure)
  }

  // MARK: - Size

  @Test(
    "each percent is reported once and in order, for every size", arguments: [1, 99, 100, 10 << 20])
  func progress(size: Int) async throws {
    try await TestFolder.making { folder in
      try folder.write([UInt8](repeating: 0x78, count: size), to: "a")
      let loaded = try await FileSource(folder: folder.path, name: "a").loaded()
      let percents = loaded.percents.compactMap(\.self)
      #expect(loaded.value?.utf8.count == size + 2)
      #expect(percents.count == loaded.percents.count)
      #expect(percents.first == 0 && percents.last == 100)
      #expect(zip(percents, percents.dropFirst()).allSatisfy { $0 < $1 })
      #expect(percents.count >= min(size / FileSource.chunkBytes, 80))
    }
  }

  @Test("a file may have the maximum size, and nothing of a larger one is read")
  func tooLarge() async throws {
    try await TestFolder.making { folder in
      let reads = Record<Int>()
      try folder.write("12345", to: "a")
      func source(_ maximumBytes: Int) throws -> FileSource {
        try FileSource(
          folder: folder.path, name: FileName("a"), maximumBytes: maximumBytes
        ) { reads.add($0) }
      }
      let loaded = try await source(4).loaded()
      #expect(loaded == Loaded(percents: [], failure: "source.tooLarge"))
      #expect(reads.all == [])
      #expect(try await source(5).loaded().value == #""12345""#)
    }
  }

  @Test("a cancelled load of 50 MB stops at 40 %")
  func cancelled() async throws {
    try await TestFolder.making { folder in
      let size = 50_000_000
      try folder.write([UInt8](repeating: 0x78, count: size), to: "a")
      let reads = Record<Int>()
      let source = try FileSource(
        folder: folder.path, name: FileName("a"), maximumBytes: size
      ) { reads.add($0) }
      let percents = Record<Int?>()
      await withTaskGroup(of: Loaded?.self) { group in
        let (reached, cancelled) = (Signal(), Signal())
        group.addTask {
          try? await source.loaded { percent in
            percents.add(percent)
            guard percent == 40 else { return }
            reached.fire()
            await cancelled.wait()
          }
        }
        await reached.wait()
        group.cancelAll()
        cancelled.fire()
        #expect(await group.next() == .some(nil))
      }
      #expect(percents.all.last == 40)
      // At most one chunk more than 40 % was read.
      let count = try #require(reads.all.last)
      #expect(count >= size * 40 / 100 && count < size * 40 / 100 + FileSource.chunkBytes)
    }
  }

  @Test("a file of 50 MB is read completely")
  func large() async throws {
    try await TestFolder.making { folder in
      try folder.write([UInt8](repeating: 0x78, count: 50_000_000), to: "a")
      let loaded = try await FileSource(
        folder: folder.path, name: "a", maximumBytes: 50_000_000
      ).loaded()
      #expect(loaded.value?.utf8.count == 50_000_002)
      #expect(loaded.percents == Array(0...100))
    }
  }

  @Test(
    "a file that grows is read to its first size, and a file that shrinks is a failure",
    arguments: [(3_000_000, 2_000_000), (1_000_000, nil), (0, nil)])
  func changes(newSize: Int, count: Int?) async throws {
    try await TestFolder.making { folder in
      try folder.write([UInt8](repeating: 0x78, count: 2_000_000), to: "a")
      let source = try FileSource(folder: folder.path, name: "a")
      let loaded = try await source.loaded { percent in
        guard let percent, percent > 60, percent < 70 else { return }
        do { try folder.truncate("a", to: newSize) } catch { Issue.record(error) }
      }
      #expect(loaded.value.map { $0.utf8.count - 2 } == count)
      #expect(loaded.failure == (count == nil ? "source.changed" : nil))
      #expect(loaded.percents.compactMap(\.self).last ?? 0 <= 100)
    }
  }

  @Test("a large file takes several permits and waits for earlier reads")
  func largeFiles() async throws {
    try await TestFolder.making { folder in
      try folder.write([UInt8](repeating: 0x78, count: 3 << 20), to: "a")
      let permits = AsyncSemaphore(4)
      let source = try FileSource(
        folder: folder.path, name: FileName("a"), maximumBytes: 4 << 20, openFiles: 4,
        permits: permits)
      await withTaskGroup(of: Int?.self) { group in
        await permits.withPermit {
          group.addTask { try? await source.loaded().value?.utf8.count }
          await eventually("the read waits") { permits.waiting > 0 }
        }
        for await count in group { #expect(count == 2 + 3 << 20) }
      }
    }
  }

  @Test("a read continues in the same file if another file takes its name")
  func replaced() async throws {
    try await TestFolder.making { folder in
      try folder.write([UInt8](repeating: 0x78, count: 2_000_000), to: "a")
      let source = try FileSource(folder: folder.path, name: "a")
      let loaded = try await source.loaded { percent in
        guard percent == 0 else { return }
        do {
          try folder.remove("a")
          try folder.makeLink("a", to: "/etc/hostname")
        } catch { Issue.record(error) }
      }
      #expect(loaded.value?.utf8.count == 2_000_002)
    }
  }
}
