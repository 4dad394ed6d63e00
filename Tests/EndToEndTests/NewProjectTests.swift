// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `Scripts/check-new` also builds the project, runs its tests and starts its server.
@Suite("statewire new", .timeLimit(.minutes(15)))
struct NewProjectTests {
  private func new(_ arguments: String..., in folder: TestFolder) throws -> ProgramResult {
    let words = arguments.map { "'\($0)'" }.joined(separator: " ")
    return try Program.script("\"$statewire\" new \(words)", in: folder)
  }

  private func text(_ path: String, in folder: TestFolder) throws -> String {
    try String(contentsOfFile: folder.path + "/" + path, encoding: .utf8)
  }

  @Test("a project has the name everywhere, and uses the checkout of the program")
  func writes() throws {
    let folder = try TestFolder()
    let result = try new("shopping-list", in: folder)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("swift run shopping-list serve --web 127.0.0.1:7281"))
    let project = folder.path + "/shopping-list"
    let files = try FileManager.default.subpathsOfDirectory(atPath: project)
      .filter { (try? text("shopping-list/\($0)", in: folder)) != nil }
    #expect(
      Set(files) == [
        ".gitignore", "Package.swift", "README.md", "shopping-list.conversation",
        "Sources/ShoppingListServer/ShoppingListServer.swift",
        "Sources/ShoppingListServer/ShoppingListStore.swift",
        "Tests/ShoppingListServerTests/ShoppingListStoreTests.swift", "web/index.html",
        "web/page.js",
      ])
    for file in files {
      let text = try text("shopping-list/\(file)", in: folder)
      #expect(!text.lowercased().contains("counter") && !text.contains("SPDX"), "\(file)")
    }
    let manifest = try text("shopping-list/Package.swift", in: folder)
    #expect(manifest.hasPrefix("// swift-tools-version: 6.2\n"))
    #expect(
      manifest.contains(".package(name: \"statewire\", path: \"\(TestedPackage.root.path)\")"))
    #expect(
      try text("shopping-list/web/page.js", in: folder).contains(".store(\"shopping-list\")"))
  }

  @Test("a project can use a repository, or the checkout that the environment names")
  func sources() throws {
    let folder = try TestFolder()
    #expect(
      try new("poll", "--statewire", "https://git.example.com/statewire.git", in: folder).status
        == 0)
    #expect(
      try text("poll/Package.swift", in: folder).contains(
        ".package(url: \"https://git.example.com/statewire.git\", branch: \"main\")"))
    // A project has a Package.swift that names Statewire, too.
    let other = try new("other", "--statewire", "poll", in: folder)
    #expect(other.errors.contains("poll is not a checkout of Statewire"), "\(other.errors)")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/empty", withIntermediateDirectories: false)
    let checkout = TestedPackage.root.path
    let script = "STATEWIRE_CHECKOUT='\(checkout)' \"$statewire\" new empty"
    #expect(try Program.script(script, in: folder).output.contains("the checkout \(checkout)\n"))
  }

  @Test(
    "a name or an option that cannot be used is refused, and nothing is written",
    arguments: [
      (["1st"], "'1st' is not a name of a project"), ([""], "'' is not a name of a project"),
      (["a/b"], "'a/b' is not a name of a project"), (["a--b"], "'a--b' is not a name"),
      (["über"], "'über' is not a name"), (["Swift-NIO"], "may have the name 'Swift-NIO'"),
      (["test"], "may have the name 'test'"), ([String(repeating: "a", count: 65)], "at most 64"),
      (["poll", "--language", "cobol"], "'cobol' is invalid for '--language <language>'"),
      (["poll", "--statewire", "/nowhere"], "/nowhere is not a checkout of Statewire"),
      (["poll", "--statewire", "https://a.example/b"], "its URL must end with /statewire"),
    ])
  func refusals(words: [String], expected: String) throws {
    let folder = try TestFolder()
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let result = try Program.script("\"$statewire\" new \(list)", in: folder)
    #expect(result.status != 0 && result.errors.contains(expected), "\(result.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a folder that is not empty, and a file, are left as they are")
  func occupied() throws {
    let folder = try TestFolder()
    let result = try Program.script(
      "mkdir full && touch full/note file && \"$statewire\" new full; \"$statewire\" new file; ls full",
      in: folder)
    #expect(result.output == "note\n")
    #expect(result.errors.contains("the folder full is not empty; use another name or empty it"))
    #expect(result.errors.contains("file exists and is not a folder; use another name"))
  }
}
