// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("The kanban server", .timeLimit(.minutes(15)))
struct KanbanServerTests {
  @Test("takes the inputs of a child, and sends a moved card as one remove and one add")
  func moves() async throws {
    let client = try await ExampleServer("Kanban", "--test").client()
    try await client.subscribe(to: "desk")
    try await client.kanban(#"{"type":"cardAdded","title":"Milk","column":"todo"}"#)
    _ = client.takePatches()
    try await client.kanban(#"{"type":"cardMoved","id":"1","column":"done","before":null}"#)
    #expect(
      client.takePatches().map(\.description) == [
        #"[{"op":"remove","path":"/kanban/board/todo/0"},"#
          + #"{"op":"add","path":"/kanban/board/done/0","value":{"id":"1","title":"Milk"}}]"#
      ])
    try await client.kanban(#"{"type":"undoTapped"}"#)
    #expect(
      client.takePatches().map(\.description) == [
        #"[{"op":"add","path":"/kanban/board/todo/0","value":{"id":"1","title":"Milk"}},"#
          + #"{"op":"remove","path":"/kanban/board/done/0"},"#
          + #"{"op":"replace","path":"/kanban/canRedo","value":true}]"#
      ])
    let refused = try await client.kanban(#"{"type":"cardAdded","title":"","column":"todo"}"#)
    #expect(refused.description.contains(#""code":-32602"#), "\(refused)")
  }

  @Test("saves late, meets faults by the name with the child's prefix, and ends the timer")
  func effects() async throws {
    let folder = try TestFolder()
    let client = try await ExampleServer("Kanban", "--test", "--data-dir", folder.path).client()
    try await client.subscribe(to: "desk")
    try await client.call(
      "test/injectFault",
      #"{"store":"desk","operation":"kanban/save","fault":{"type":"fail"}}"#)
    try await client.kanban(#"{"type":"cardAdded","title":"Milk","column":"todo"}"#)
    #expect(client.state["kanban"]?["saving"] == "saving")
    try await client.call("test/advanceClock", #"{"by":1}"#)
    #expect(client.state["kanban"]?["saving"] == "failed")
    try await client.kanban(#"{"type":"cardAdded","title":"Tea","column":"todo"}"#)
    try await client.call("test/advanceClock", #"{"by":1}"#)
    #expect(client.state["kanban"]?["saving"] == "saved")
    let file = try String(contentsOfFile: folder.path + "/board.json", encoding: .utf8)
    #expect(file.contains("Tea"))

    try await client.input(
      #"{"type":"timer","input":{"type":"startTapped","seconds":2}}"#, to: "desk")
    try await client.call("test/advanceClock", #"{"by":5}"#)
    #expect(client.state["timer"]?["secondsLeft"] == 0)
    #expect(client.events == [["type": "workEnded"]])
  }

  @Test("shares the board: 500 inputs of two sessions come in one order, and settle is true")
  func sharing() async throws {
    let server = try ExampleServer("Kanban")
    let clients = [try await server.client(), try await server.client()]
    for client in clients { try await client.subscribe(to: "desk") }
    try await withThrowingTaskGroup { group in
      for (name, client) in zip(["a", "b"], clients) {
        group.addTask { try await client.addCards(250, named: name) }
      }
      try await group.waitForAll()
    }
    for client in clients {
      while client.titles.count < 500 || client.state["kanban"]?["saving"] != "saved" {
        try await client.awaitUpdate()
      }
    }
    #expect(clients[0].state == clients[1].state)
    for name in ["a", "b"] {
      let own = clients[0].titles.filter { $0.hasPrefix(name) }
      #expect(own == (0..<250).map { "\(name)\($0)" })
    }
  }

  @Test("has the types of its Python client")
  func types() throws {
    let file = TestedPackage.root.appending(path: "Examples/Kanban/desk.py").path
    let result = try ProgramResult(
      of: TestedPackage.program("Kanban"),
      ["types", "--language", "python", "--output", file, "--check"])
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test("keeps the board, the time and what can be undone when it is killed")
  func killed() async throws {
    let folder = try TestFolder()
    let server = try ExampleServer("Kanban", "--data-dir", folder.path)
    let client = try await server.client()
    try await client.subscribe(to: "desk")
    try await client.kanban(#"{"type":"cardAdded","title":"Milk","column":"todo"}"#)
    try await client.kanban(#"{"type":"cardMoved","id":"1","column":"done","before":null}"#)
    let board = client.state["kanban"]?["board"]
    try await client.input(
      #"{"type":"timer","input":{"type":"startTapped","seconds":1000}}"#, to: "desk")
    server.kill()

    let later = try await ExampleServer("Kanban", "--data-dir", folder.path).client()
    try await later.subscribe(to: "desk")
    #expect(later.state["kanban"]?["board"] == board)
    #expect(later.state["timer"]?["secondsLeft"] != 0)
    // The board is saved, which was not saved before the end.
    try await later.reaches("/kanban/saving", "saved")
    #expect(FileManager.default.fileExists(atPath: folder.path + "/board.json"))
    try await later.kanban(#"{"type":"undoTapped"}"#)
    #expect(later.state["kanban"]?["board"]?["todo"]?[0]?["title"] == "Milk")
  }
}

extension ExampleClient {
  /// The titles of the cards in the first column.
  fileprivate var titles: [String] {
    state["kanban"]?["board"]?["todo"]?.array?.compactMap { $0["title"]?.string } ?? []
  }

  @discardableResult
  fileprivate func kanban(_ input: String) async throws -> JSONValue {
    try await self.input(#"{"type":"kanban","input":\#(input)}"#, to: "desk")
  }

  /// Sends all inputs before it reads a response. The last one is settled after its own updates.
  fileprivate func addCards(_ count: Int, named name: String) async throws {
    var last = 0
    for number in 0..<count {
      let input = #"{"type":"cardAdded","title":"\#(name)\#(number)","column":"todo"}"#
      last = try await send(
        "store/send",
        #"{"store":"desk","settle":\#(number == count - 1),"#
          + #""input":{"type":"kanban","input":\#(input)}}"#)
    }
    let result = try await response(to: last)
    #expect(result["changed"] == true)
    #expect(titles.contains("\(name)\(count - 1)"))
  }
}
