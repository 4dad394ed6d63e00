// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

/// Tests of states that another version of a machine has persisted.
@Suite("Evolution of persisted states")
struct EvolutionTests {
  @Test("members that a state lacks are filled in from the initial state, also nested ones")
  func missingMembers() throws {
    struct State: Codable, Equatable, Sendable {
      struct Page: Codable, Equatable, Sendable {
        var size = 10
        var margin = Margin()
      }
      struct Margin: Codable, Equatable, Sendable {
        var left = 1
        var right = 2
      }
      var text = ""
      var theme = "light"
      var page = Page()
      var sizes: [String: Int] = ["a": 1]
    }
    let restored = try Kept(State()).restored(
      #"{"text":"x","page":{"margin":{"left":7},"gone":true}}"#)
    #expect(!restored.isUnchanged)
    var expected = State(text: "x")
    expected.page.margin.left = 7
    #expect(restored.state == expected)
    #expect(try Kept(State()).restored("{}").state == State())
  }

  @Test("an optional member that is absent or null is nil, whatever the initial state has")
  func optionals() throws {
    struct State: Codable, Equatable, Sendable {
      var selected: String? = "first"
      var size = 10
    }
    for text in ["{}", #"{"selected":null}"#] {
      #expect(try Kept(State()).restored(text).state == State(selected: nil))
    }
    // A member that was optional and is required now has the value of the initial state.
    let null = #"{"size":null,"selected":"x"}"#
    #expect(try Kept(State()).restored(null).state == State(selected: "x"))
  }

  @Test("a state that is encoded as it was persisted is unchanged, in any order of its members")
  func unchanged() throws {
    struct State: Codable, Equatable, Sendable {
      var a = 1
      var b = 1.5
      var c: [String: Int] = [:]
    }
    for text in [#"{"a":1,"b":1.5,"c":{"x":1,"y":2}}"#, #"{"c":{"y":2,"x":1},"b":1.50,"a":1}"#] {
      #expect(try Kept(State()).restored(text).isUnchanged)
    }
    // A removed member was visible at the old revision.
    #expect(try !Kept(State()).restored(#"{"a":1,"b":2,"c":{},"old":1}"#).isUnchanged)
  }

  enum Phase: Codable, Equatable, Sendable {
    case idle
    case loading(id: Int, attempt: Int)
    case paused(attempt: Int)
  }

  struct Work: Codable, Equatable, Sendable {
    var phase = Phase.idle
    var size = 3
  }

  @Test("payloads of enums are filled in from the same case only")
  func enums() throws {
    let loading = #"{"phase":{"type":"loading","id":4}}"#
    let same = Work(phase: .loading(id: 9, attempt: 1))
    #expect(try Kept(same).restored(loading).state == Work(phase: .loading(id: 4, attempt: 1)))
    for other in [Work(), Work(phase: .paused(attempt: 5))] {
      let error = #expect(throws: JSONError.self) { try Kept(other).restored(loading) }
      #expect(error?.pathDescription == "/phase/attempt")
      // The payload of the initial case is not mixed into an object that names no case.
      #expect(throws: JSONError.self) { try Kept(other).restored(#"{"phase":{"id":4}}"#) }
    }
    let defaults: Kept<Work>.Defaults = [
      ("/phase", Phase.paused(attempt: 8)), ("/phase", Phase.loading(id: 0, attempt: 2)),
    ]
    #expect(
      try Kept(Work(), defaults: defaults).restored(loading).state
        == Work(phase: .loading(id: 4, attempt: 2)))
  }

  struct Board: Codable, Equatable, Sendable {
    struct Card: Codable, Equatable, Sendable {
      var title: String
      var color = "white"
      var labels: [Label] = []
    }
    struct Label: Codable, Equatable, Sendable {
      var name: String
      var size = 1
    }
    var cards: [Card] = []
    var byName: [String: Card] = [:]
  }

  private let boards = """
    {"cards":[{"title":"a","labels":[{"name":"l"},{"name":"m","size":4}]},
    {"title":"b","color":"red","labels":[]}],"byName":{"c":{"title":"c","labels":[]}}}
    """

  @Test("elements of lists and dictionaries are filled in from memberDefaults only")
  func elements() throws {
    let initial = Board(cards: [Board.Card(title: "first")])
    let error = #expect(throws: JSONError.self) { try Kept(initial).restored(boards) }
    #expect(error?.pathDescription == "/cards/0/color")
    let card = Board.Card(title: "")
    let restored = try Kept(
      initial,
      defaults: [
        ("/cards/*", card), ("/byName/*", card), ("/cards/*/labels/*", Board.Label(name: "")),
      ]
    ).restored(boards)
    #expect(
      restored.state
        == Board(
          cards: [
            Board.Card(
              title: "a",
              labels: [Board.Label(name: "l"), Board.Label(name: "m", size: 4)]),
            Board.Card(title: "b", color: "red"),
          ], byName: ["c": Board.Card(title: "c")]))
  }

  @Test("a path of memberDefaults that is not a JSON Pointer is named in the error")
  func badDefaults() throws {
    let kept = Kept(Board(), defaults: [("cards/*", Board.Card(title: ""))])
    let error = #expect(throws: JSONError.self) { try kept.restored(boards) }
    #expect(error?.message.contains("memberDefaults") == true)
  }

  @Test("migrate converts states of older versions; its result may lack members")
  func migration() throws {
    struct State: Codable, Equatable, Sendable {
      var title = ""
      var theme = "light"
    }
    let kept = Kept(State(), version: 3) { version, state in
      var members = state.object ?? [:]
      if version < 2 { members["title"] = members.removeValue(forKey: "name") }
      if version < 3, members["title"] == "bad" { throw Unreadable() }
      return .object(members)
    }
    #expect(try kept.restored(#"{"name":"x"}"#, version: 1).state == State(title: "x"))
    #expect(
      try kept.restored(#"{"title":"x","theme":"dark"}"#, version: 2).state
        == State(title: "x", theme: "dark"))
    // The state of an older version has another revision, also if it is the same JSON value: the
    // view of it may differ.
    #expect(try !kept.restored(#"{"title":"x","theme":"dark"}"#, version: 2).isUnchanged)
    #expect(try kept.restored(#"{"title":"x","theme":"dark"}"#, version: 3).isUnchanged)
    var error = #expect(throws: JSONError.self) {
      try kept.restored(#"{"name":"bad"}"#, version: 1)
    }
    #expect(error?.message == "migrate(from: 1) has failed: no such title")
    error = #expect(throws: JSONError.self) { try kept.restored(#"{"title":"x"}"#, version: 4) }
    #expect(error?.message.contains("version 4") == true)
  }

  @Test("a state of another form is restored under the next revision")
  func revision() async throws {
    let bench = try await Bench(Kept(Work()))
    let waiting = try await bench.do { bench, _ in
      func restored(_ text: String, _ version: Int? = nil) throws -> Store<Kept<Work>> {
        try Store(
          restoring: Kept(Work(), version: 2), number: StoreNumber(1), host: bench, revision: 7,
          lastOperation: 3, state: JSONValue(parsing: text), version: version)
      }
      let whole = #"{"phase":{"type":"idle"},"size":4}"#
      #expect(try restored(whole).revision == 7)
      #expect(try restored(whole, 1).revision == 8)
      let filled = try restored(#"{"phase":{"type":"idle"}}"#)
      #expect(filled.revision == 8 && filled.state == Work())
      #expect(filled.prepareRecord(scope: "kept", epoch: 1) && filled.version == 2)
      return [Task<Void, Never>]()
    }
    for work in waiting { await work.value }
  }

  private struct Unreadable: Error, CustomStringConvertible {
    let description = "no such title"
  }
}

/// A machine whose state never changes.
private struct Kept<State: Codable & Sendable>: DurableMachine {
  typealias Defaults = [(String, any Encodable & Sendable)]
  typealias Migration = @Sendable (Int, JSONValue) throws -> JSONValue
  enum Input: Codable, Sendable { case nothing }
  enum Action: Sendable { case nothing }

  let initialState: State
  let version: Int
  let migration: Migration
  let defaults: Defaults

  init(
    _ initialState: State, version: Int = 1, defaults: Defaults = [],
    migration: @escaping Migration = { $1 }
  ) {
    self.initialState = initialState
    self.version = version
    self.migration = migration
    self.defaults = defaults
  }

  var memberDefaults: [(path: String, value: any Encodable)] {
    defaults.map { (path: $0.0, value: $0.1) }
  }

  func migrate(from version: Int, state: JSONValue) throws -> JSONValue {
    try migration(version, state)
  }

  func effect(of input: Input, in state: State) -> Effect<Action> { .none }
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }
  func reduce(_ state: inout State, _ action: Action) {}

  func restored(_ text: String, version: Int? = nil) throws -> RestoredState<State> {
    try restoredState(JSONValue(parsing: text), version: version)
  }
}
