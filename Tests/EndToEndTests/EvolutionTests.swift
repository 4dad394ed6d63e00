// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

/// Several versions of one program with one data folder: `Tests/EvolvingServer`.
@Suite("Evolution of a program", .timeLimit(.minutes(15)))
struct EvolutionTests {
  private let folder: TestFolder
  private let session: String

  /// Runs the first version, in which a session has got a board with two cards at revision 3.
  init() throws {
    folder = try TestFolder()
    let results = try Self.serve(
      "1", folder, ("session/open", #"{"frontend":"a"}"#),
      ("store/send", #"{"store":"board","input":{"type":"addCard","title":"x"},"sequence":1}"#),
      ("store/send", #"{"store":"board","input":{"type":"addCard","title":"y"},"sequence":2}"#),
      ("store/send", #"{"store":"board","input":{"type":"rename","name":"n"},"sequence":3}"#))
    session = try #require(results[0]["result"]?["session"]?.string)
  }

  @Test("a state goes through three versions of its type, and clients learn that it has changed")
  func versions() throws {
    let second = try attach("2", revision: 3)
    #expect(second["reason"] == "reopened")
    #expect(second["cause"] == "migrated" && second["snapshot"]?["revision"] == 4)
    #expect(
      second["snapshot"]?["state"]
        == [
          "name": "n",
          "cards": [["title": "x", "color": "white"], ["title": "y", "color": "white"]],
          "phase": ["type": "idle"], "page": ["size": 10, "margin": 2], "editor": "alice",
          "theme": "light", "tags": [],
        ])
    #expect(try attach("2", revision: 4) == ["replayed": 0])
    let third = try attach("3", revision: 4)
    #expect(third["cause"] == "migrated" && third["snapshot"]?["revision"] == 5)
    #expect(third["snapshot"]?["state"]?["title"] == "n")
    #expect(third["snapshot"]?["state"]?["cards"]?["1"] == ["title": "y", "color": "white"])
    // The second version does not misread the state of the third one.
    let older = try attach("2", revision: 5)
    #expect(older["cause"] == "unreadable" && older["snapshot"]?["state"]?["name"] == "untitled")
  }

  @Test("a state that cannot be read is kept aside, listed, exported, edited and put back")
  func keptAside() throws {
    let (board, log) = try attachWithLog("broken", revision: 3)
    #expect(board["cause"] == "unreadable")
    #expect(board["snapshot"] == ["revision": 4, "state": ["name": 7]])
    #expect(board["keptAside"]?["revision"] == 3)
    #expect(board["keptAside"]?["reason"]?.string?.contains("there is no migration") == true)
    let line = log.split(separator: "\n").first { $0.contains("kept aside") }
    for word in ["warning", #""board""#, "revision 3", "there is no migration"] {
      #expect(line?.contains(word) == true, "\(log)")
    }
    #expect(!log.contains(session))

    let name = "\(session.prefix(8))/board@3"
    let lines = try journal("list").lines
    #expect(lines.contains { $0.contains("kept \(name) kind board version 1 ") }, "\(lines)")
    let list = try JSONValue(parsing: journal("list", "--json").output)
    #expect(list["kept"]?[0]?["name"]?.string == name)
    #expect(list["sessions"]?[0]?["stores"]?[0]?["revision"] == 4)

    let file = folder.url.appending(path: "board.json")
    #expect(try journal("export", name, "--output", file.path).status == 0)
    var state = try JSONValue(parsing: String(contentsOf: file, encoding: .utf8)).object ?? [:]
    #expect(state["name"] == "n")
    state["name"] = "edited"
    try JSONValue.object(state).description.write(to: file, atomically: true, encoding: .utf8)
    let restored = try journal("restore", name, "--file", file.path)
    #expect(restored.output == "store board continues in this state at revision 5\n")
    let third = try attach("3", revision: 4)
    #expect(third["cause"] == "migrated")
    #expect(third["snapshot"]?["state"]?["title"] == "edited")
    #expect(third["keptAside"] == nil)

    #expect(try journal("remove", name).output == "\(name) was removed\n")
    // The state that was replaced is kept.
    let rest = try JSONValue(parsing: journal("list", "--json").output)
    #expect(rest["kept"]?.array?.map { $0["revision"] } == [4])
  }

  @Test("journal restore refuses what it cannot put back, in one sentence")
  func refusals() throws {
    _ = try attach("broken", revision: 3)
    let name = "\(session.prefix(8))/board@3"
    let file = folder.url.appending(path: "bad.json")
    try #"{"name":5}"#.write(to: file, atomically: true, encoding: .utf8)
    let bad = try journal("restore", name, "--file", file.path)
    #expect(bad.status == 1 && bad.errors.contains("kind board cannot read the state: "))
    #expect(bad.errors.contains("/name"), "\(bad.errors)")
    try "{".write(to: file, atomically: true, encoding: .utf8)
    #expect(try journal("restore", name, "--file", file.path).status == 1)
    let newer = try journal("restore", name, "--version", "5")
    #expect(newer.errors.contains("version 5"))
    let unknown = try journal("restore", "x/board@3")
    #expect(unknown.errors.contains("no state x/board@3 is kept aside"))
    let noJournal = try Program.run(["journal", "list", "--data-dir", folder.path + "/none"])
    #expect(noJournal.status == 1 && noJournal.errors.contains("has no session journal"))
    // A program without the kind puts the state back unchecked.
    let other = try Program.run(["journal", "restore", name, "--data-dir", folder.path])
    #expect(other.output.contains("not checked, because this program has no kind board"))
    #expect(try attach("1", revision: 4)["cause"] == "restored")
  }

  private func journal(_ words: String...) throws -> ProgramResult {
    try Program.run(
      ["journal"] + words + ["--data-dir", folder.path], environment: ["EVOLUTION": "2"],
      program: Self.program)
  }

  private func attach(_ version: String, revision: Int) throws -> JSONValue {
    try attachWithLog(version, revision: revision).board
  }

  /// Attaches to the session in a server of a version.
  ///
  /// - Returns: The result for the board, and the log.
  private func attachWithLog(
    _ version: String, revision: Int
  ) throws -> (board: JSONValue, log: String) {
    let params = #"{"session":"\#(session)","frontend":"a","revisions":{"board":\#(revision)}}"#
    let result = try Self.run(version, folder, [("session/attach", params)])
    let frames = try result.lines.map { try JSONValue(parsing: $0) }
    let response = try #require(frames.first { $0["id"] == 1 })
    #expect(response["result"]?["sequence"] == 3)
    return (try #require(response["result"]?["stores"]?["board"]), result.errors)
  }

  private static let program = TestedPackage.program("EvolvingServer")

  private static func serve(
    _ version: String, _ folder: TestFolder, _ requests: (method: String, params: String)...
  ) throws -> [JSONValue] {
    try run(version, folder, requests).lines.map { try JSONValue(parsing: $0) }
      .filter { $0["id"] != nil }
  }

  /// Sends requests to a server, and waits for its end.
  private static func run(
    _ version: String, _ folder: TestFolder, _ requests: [(method: String, params: String)]
  ) throws -> ProgramResult {
    let lines = requests.enumerated().map { index, request in
      """
      {"jsonrpc":"2.0","id":\(index + 1),"method":"\(request.method)","params":\(request.params)}\n
      """
    }
    return try Program.run(
      ["serve", "--data-dir", folder.path], input: lines.joined(),
      environment: ["EVOLUTION": version], program: program)
  }
}
