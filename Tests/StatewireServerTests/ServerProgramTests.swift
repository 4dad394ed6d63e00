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
    #expect(RootCommand<Stopwatches>.configuration.version == "unversioned")
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

  private enum Paged: ServerProgram {
    static let kinds: ServerKinds = []
    static var site: WebSite {
      WebSite(
        files: ["index.html": [1]], folder: "web", origins: ["https://a.example"],
        contentSecurityPolicy: "default-src 'self'")
    }
  }

  @Test("options take precedence over the site of a program")
  func site() throws {
    func site(_ words: [String]) throws -> WebSite {
      let options = try #require(CommandLineOptions(words: words, hasBuiltin: false)).options
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      return try options.configuration(of: Paged.self, logger: logger).site
    }
    let own = try site(["--web", "127.0.0.1:0"])
    #expect(own.folder == "web" && own.files == ["index.html": [1]])
    #expect(own.contentSecurityPolicy == "default-src 'self'" && !own.hasEcho)
    let changed = try site([
      "--web", "127.0.0.1:0", "--web-root", "other", "--web-origin", "https://b.example",
      "--content-security-policy", "img-src *",
    ])
    #expect(changed.folder == "other" && changed.contentSecurityPolicy == "img-src *")
    #expect(changed.origins == ["https://a.example", "https://b.example"])
    #expect(throws: StartupError.self) { try site(["--content-security-policy", "img-src *"]) }
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
