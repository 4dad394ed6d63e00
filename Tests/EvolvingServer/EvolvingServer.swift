// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateMachines
import StatewireServer

/// A program of which several versions use one data folder, for tests. The variable `EVOLUTION`
/// selects the version: 1, 2, 3, or `broken`, which cannot read the states of the others.
///
/// In reality each version is another build with one type `Board`.
@main
struct EvolvingServer: ServerProgram {
  static let kinds = ServerKinds { _ in
    switch ProcessInfo.processInfo.environment["EVOLUTION"] {
    case "2": [StoreKind("board") { Board2() }]
    case "3": [StoreKind("board") { Board3() }]
    case "broken": [StoreKind("board") { BrokenBoard() }]
    default: [StoreKind("board") { Board1() }]
    }
  }
}

/// The first version.
struct Board1: DurableMachine {
  enum Input: Codable, Sendable {
    case addCard(title: String)
    case rename(name: String)
    case work(seconds: Int)
  }

  enum Action: Sendable {
    case addCard(String)
    case rename(String)
    case begin(Int)
    case finish
    case interrupt
  }

  struct State: Codable, Sendable {
    var name = "untitled"
    var cards: [Card] = []
    var phase = Phase.idle
    var page = Page()
    var editor: String?
  }

  struct Card: Codable, Sendable { var title: String }
  struct Page: Codable, Sendable { var size = 10 }

  enum Phase: Codable, Sendable {
    case idle
    case working(seconds: Int)
    case finished
    case interrupted
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .addCard(let title): .action(.addCard(title))
    case .rename(let name): .action(.rename(name))
    case .work(let seconds):
      .several(.action(.begin(seconds)), .after(.seconds(seconds), .action(.finish)))
    }
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    guard case .work(let seconds) = input else { return .none }
    return .after(max(.zero, .seconds(seconds) - elapsed), .action(.finish))
  }

  func interruption(in state: State) -> Action? { .interrupt }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .addCard(let title): state.cards.append(Card(title: title))
    case .rename(let name): state.name = name
    case .begin(let seconds): state.phase = .working(seconds: seconds)
    case .finish: state.phase = .finished
    case .interrupt: state.phase = .interrupted
    }
  }
}

/// The second version: more members with defaults, also of a nested struct, of the elements of a
/// list and of the payload of a case. An optional member is required now.
struct Board2: DurableMachine {
  typealias Input = Board1.Input
  typealias Action = Board1.Action

  struct State: Codable, Sendable {
    var name = "untitled"
    var cards: [Card] = []
    var phase = Phase.idle
    var page = Page()
    var editor = "alice"
    var theme = "light"
    var tags: [String] = []
  }

  struct Card: Codable, Sendable {
    var title: String
    var color = "white"
  }

  struct Page: Codable, Sendable {
    var size = 10
    var margin = 2
  }

  enum Phase: Codable, Sendable {
    case idle
    case working(seconds: Int, attempt: Int)
    case finished
    case interrupted
  }

  let initialState = State()

  var memberDefaults: [(path: String, value: any Encodable)] {
    [("/cards/*", Card(title: "")), ("/phase", Phase.working(seconds: 0, attempt: 1))]
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    Board1().effect(of: input, in: Board1.State())
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    Board1().restart(of: input, in: Board1.State(), after: elapsed)
  }

  func interruption(in state: State) -> Action? { .interrupt }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .addCard(let title): state.cards.append(Card(title: title, color: "blue"))
    case .rename(let name): state.name = name
    case .begin(let seconds): state.phase = .working(seconds: seconds, attempt: 1)
    case .finish: state.phase = .finished
    case .interrupt: state.phase = .interrupted
    }
  }
}

/// The third version: renamed members and inputs, a removed member, and a list that became a
/// dictionary.
struct Board3: DurableMachine {
  enum Input: Codable, Sendable {
    case addCard(title: String)
    case rename(name: String)
    case run(seconds: Int)
  }

  typealias Action = Board1.Action

  struct State: Codable, Sendable {
    var title = "untitled"
    var cards: [String: Board2.Card] = [:]
    var phase = Board2.Phase.idle
    var page = Board2.Page()
    var theme = "light"
    var tags: [String] = []
  }

  let initialState = State()
  let version = 2

  func migrate(from version: Int, state: JSONValue) throws -> JSONValue {
    var members = state.object ?? [:]
    members["title"] = members.removeValue(forKey: "name")
    // A state of the first version, if the second one has never read it, lacks the colors. They are
    // filled in.
    var cards = JSONObject()
    for (index, card) in (members["cards"]?.array ?? []).enumerated() { cards["\(index)"] = card }
    members["cards"] = .object(cards)
    return .object(members)
  }

  var memberDefaults: [(path: String, value: any Encodable)] {
    [
      ("/cards/*", Board2.Card(title: "")),
      ("/phase", Board2.Phase.working(seconds: 0, attempt: 1)),
    ]
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .addCard(let title): .action(.addCard(title))
    case .rename(let name): .action(.rename(name))
    case .run(let seconds):
      .several(.action(.begin(seconds)), .after(.seconds(seconds), .action(.finish)))
    }
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .action(.interrupt)
  }

  func interruption(in state: State) -> Action? { .interrupt }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .addCard(let title):
      state.cards["\(state.cards.count)"] = Board2.Card(title: title, color: "green")
    case .rename(let name): state.title = name
    case .begin(let seconds): state.phase = .working(seconds: seconds, attempt: 1)
    case .finish: state.phase = .finished
    case .interrupt: state.phase = .interrupted
    }
  }
}

/// A version whose `migrate` throws.
struct BrokenBoard: DurableMachine {
  struct State: Codable, Sendable { var name = 7 }
  enum Input: Codable, Sendable { case increment }

  struct NoMigration: Error, CustomStringConvertible {
    let description = "there is no migration"
  }

  let initialState = State()
  let version = 9

  func migrate(from version: Int, state: JSONValue) throws -> JSONValue { throw NoMigration() }
  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Input> {
    .none
  }
  func reduce(_ state: inout State, _ action: Input) { state.name += 1 }
}
