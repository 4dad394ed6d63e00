// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// The third version of a durable machine, whose code docs/effects.md shows.
struct Drawing: DurableMachine {
  struct State: Codable, Equatable, Sendable {
    var title = ""
    var zoom = ""
    var cards: [Card] = []
    var theme = "light"
  }

  struct Card: Codable, Equatable, Sendable {
    var title: String
    var color = "white"
    var labels: [Label] = []
  }

  struct Label: Codable, Equatable, Sendable {
    var name: String
    var size = 1
  }

  enum Input: Codable, Sendable { case titled(title: String) }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Input> {
    .none
  }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .titled(let title): state.title = title
    }
  }
}

extension Drawing {
  var version: Int { 3 }

  func migrate(from version: Int, state: JSONValue) throws -> JSONValue {
    var members = state.object ?? [:]
    if version < 2 { members["title"] = members.removeValue(forKey: "name") }
    if version < 3 { members["zoom"] = "fit" }
    return .object(members)
  }

  var memberDefaults: [(path: String, value: any Encodable)] {
    [("/cards/*", Card(title: "")), ("/cards/*/labels/*", Label(name: ""))]
  }
}
