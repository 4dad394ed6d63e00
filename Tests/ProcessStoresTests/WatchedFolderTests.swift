// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ProcessStores

@Suite("Watched folders")
struct WatchedFolderTests {
  @Test(
    "the folder of the program is watched, not that of an interpreter or of its data",
    arguments: [
      "SCRIPT", "python3 SCRIPT", "python3 SCRIPT DATA", "/bin/sh SCRIPT DATA",
      "env NAME=value /bin/sh SCRIPT",
    ], [false, true])
  func folder(words: String, isExecutable: Bool) throws {
    let (folder, data) = (try TestFolder(), try TestFolder())
    let script = folder.file("store.py")
    try "#!/usr/bin/env python3\n".write(toFile: script, atomically: true, encoding: .utf8)
    try "{}".write(toFile: data.file("data.json"), atomically: true, encoding: .utf8)
    if isExecutable {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
    }
    let text = words.replacing("SCRIPT", with: script)
      .replacing("DATA", with: data.file("data.json"))
    var watched = WatchedFolder(of: try ProgramCommand(parsing: text))
    #expect(looks(2, &watched) == [false, false])
    try "# longer\n".write(toFile: folder.file("part.py"), atomically: true, encoding: .utf8)
    // A change counts when nothing has changed since it was seen.
    #expect(looks(3, &watched) == [false, true, false])
  }

  // With so many files, the file of the program itself was none of those that were watched.
  @Test("the file of the program is watched, also in a folder with too many files")
  func manyFiles() throws {
    let folder = try TestFolder()
    let script = folder.file("store.py")
    try "# 1\n".write(toFile: script, atomically: true, encoding: .utf8)
    var watched = WatchedFolder(of: try ProgramCommand(parsing: "python3 \(script)"))
    func makeFile(_ number: Int) {
      #expect(
        FileManager.default.createFile(atPath: folder.file("m\(number).txt"), contents: nil))
    }
    // With the file of the program as many as are watched.
    for number in 1..<WatchedFolder.maximumFiles { makeFile(number) }
    #expect(looks(3, &watched) == [false, true, false] && !watched.hasTooMany)
    makeFile(0)
    #expect(looks(3, &watched) == [false, true, false] && watched.hasTooMany)
    try "# longer\n".write(toFile: script, atomically: true, encoding: .utf8)
    #expect(looks(3, &watched) == [false, true, false])
  }

  // Each line of the log was a change, whose line was the next one.
  @Test("a file that this process writes its log to is not watched, also by another path")
  func outputs() throws {
    let folder = try TestFolder()
    let (script, log) = (folder.file("store.py"), folder.file("log"))
    for file in [script, log] { try "".write(toFile: file, atomically: true, encoding: .utf8) }
    let links = try TestFolder()
    let link = links.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link,
      withDestinationPath: URL(fileURLWithPath: script).deletingLastPathComponent().path)
    for path in [script, "\(link)/store.py"] {
      var watched = WatchedFolder(
        of: try ProgramCommand(parsing: "python3 \(path)"), outputs: [log])
      try "a line\n\(path)".write(toFile: log, atomically: false, encoding: .utf8)
      #expect(looks(3, &watched) == [false, false, false])
      try "# \(path)".write(toFile: script, atomically: true, encoding: .utf8)
      #expect(looks(3, &watched) == [false, true, false])
      #expect(watched.changedFile == "store.py")
    }
  }

  private func looks(_ count: Int, _ watched: inout WatchedFolder) -> [Bool] {
    (0..<count).map { _ in watched.hasChanged() }
  }
}
