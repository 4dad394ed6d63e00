// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import StateMachines
import Testing

@testable import StatewireServer

@Suite("Kinds and names of a program")
struct ServerProgramTests {
  private enum MyHTTPServer: ServerProgram { static let kinds: ServerKinds = [] }
  private enum Stopwatches: ServerProgram { static let kinds = ServerKinds.builtin }

  @Test("the name of a program is derived from its type")
  func names() {
    #expect(MyHTTPServer.name == "my-httpserver")
    #expect(Stopwatches.name == "stopwatches")
    #expect(MyHTTPServer.version == "")
    #expect(RootCommand<Stopwatches>.configuration.commandName == "stopwatches")
  }

  private struct Form: StateMachine {
    enum Input: Codable, Sendable { case tapped }
    enum Action: Sendable { case nothing }
    struct State: Codable, Sendable {}
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Action> { .action(.nothing) }
    func reduce(_ state: inout State, _ action: Action) {}
  }

  @Test("a program can have its own kinds, with or without the built-in ones")
  func kinds() throws {
    let own: ServerKinds = [StoreKind("form") { Form() }, StoreKind("mine") { Form() }]
    #expect(try own.described().map(\.name) == ["form", "mine"])
    #expect(!own.hasBuiltin)
    let both = ServerKinds.builtin + own
    #expect(
      try both.described().map(\.name)
        == ["todo", "addTodo", "balance", "loading", "form", "mine"])
    #expect(both.hasBuiltin)
  }

  @Test("kinds can use the data folder")
  func context() throws {
    let kinds = ServerKinds { context in
      [StoreKind(try context.dataFolder()) { Form() }]
    }
    let context = KindContext(logger: .init(label: "test"), isTest: false) { "folder" }
    #expect(try kinds.all(context) { [] }.map(\.name) == ["folder"])
  }
}
