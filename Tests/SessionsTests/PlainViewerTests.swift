// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// A game that has all functions about viewers, and declares none of the protocols for them.
private struct Game: StateMachine {
  enum Input: Codable, Sendable {
    case drawn(card: String)
    case ended
    case watched(names: [String])
  }
  enum Action: Sendable {
    case draw(String, by: String)
    case end
    case watch([String])
  }
  enum Event: Encodable, Sendable {
    case drawn(card: String, by: String)
    case ended
  }
  struct State: Codable, Sendable {
    var hands: [String: String] = [:]
    var watchers: [String] = []
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> { .none }
  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    switch input {
    case .drawn(let card): .action(.draw(card, by: viewer.name ?? "?"))
    case .ended: .action(.end)
    case .watched(let names): .action(.watch(names))
    }
  }
  func refusal(of input: Input, in state: State, from viewer: Viewer) -> InputRefusal? {
    if case .ended = input, viewer.name != "ann" {
      InputRefusal(.value, "only ann ends the game")
    } else {
      nil
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .draw(let card, let name): state.hands[name] = card
    case .end: state.hands = [:]
    case .watch(let names): state.watchers = names
    }
  }

  func audience(of viewer: Viewer) -> String { viewer.name ?? "" }
  func view(of state: State, for player: String) -> State {
    State(hands: state.hands.filter { $0.key == player }, watchers: state.watchers)
  }

  func input(for viewers: [Viewer]) -> Input? { .watched(names: viewers.map { $0.name ?? "?" }) }

  func event(of action: Action, in state: State) -> Event? {
    switch action {
    case .draw(let card, let name): .drawn(card: card, by: name)
    case .end: .ended
    case .watch: nil
    }
  }
  func recipients(of event: Event, in state: State) -> EventRecipients {
    switch event {
    case .drawn(_, let name): .only { $0.name == name }
    case .ended: .everyone
    }
  }
}

/// A game as a child, whose events the parent passes on.
private struct Evening: StateMachine {
  enum Input: Codable, Sendable { case game(input: Game.Input) }
  enum Action: Sendable { case game(Game.Action) }
  enum Event: Encodable, Sendable { case game(event: Game.Event) }
  struct State: Codable, Sendable { var game = Game.State() }

  let initialState = State()

  var children: [Child<Evening>] {
    Child(
      "game", Game(), state: \.game,
      input: CasePath(Input.game) { if case .game(let input) = $0 { input } else { nil } },
      action: CasePath(Action.game) { if case .game(let action) = $0 { action } else { nil } },
      event: { .game(event: $0) })
  }
  func effect(of input: Input, in state: State) -> Effect<Action> { .none }
  func reduce(_ state: inout State, _ action: Action) {}
  func audience(of viewer: Viewer) -> String { viewer.name ?? "" }
  func view(of state: State, for player: String) -> State {
    State(game: Game().view(of: state.game, for: player))
  }
}

@Suite("Viewers of a machine that declares no protocol for them", .timeLimit(.minutes(15)))
struct PlainViewerTests {
  private static let kinds = [
    StoreKind("game", scope: .shared()) { Game() },
    StoreKind("evening", scope: .shared()) { Evening() },
  ]

  /// Lets people subscribe to a store.
  private static func participant(
    _ listeners: [Listener], _ names: [String], at store: String, _ shard: isolated Shard
  ) throws -> [Participant] {
    let people = try zip(listeners, names).map { listener, name in
      let participant = listener.join(on: shard)
      try shard.turn {
        _ = try participant.session.open(
          for: participant, named: name, identity: nil, isolation: shard)
      }
      return participant
    }
    for person in people {
      try shard.turn { try person.subscription(store, isolation: shard).subscribe(.patch) }
    }
    for listener in listeners { _ = listener.take() }
    return people
  }

  private static func input(_ text: String, to store: String) -> String {
    store == "game" ? text : #"{"type":"game","input":\#(text)}"#
  }

  // Regression: such functions compiled and were never called.
  @Test("all functions are called", arguments: ["game", "evening"])
  func called(store: String) async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listeners = [Listener(), Listener()]
      defer { withExtendedLifetime(listeners) {} }
      let people = try Self.participant(listeners, ["ann", "bob"], at: store, shard)
      try shard.send(Self.input(#"{"type":"drawn","card":"ace"}"#, to: store), people[1], to: store)
      let states = try shard.turn {
        try people.map { try $0.subscription(store, isolation: shard).stateText }
      }
      #expect(states[0].contains(#""watchers":["ann","bob"]"#))
      #expect(!states[0].contains("ace") && states[1].contains(#""bob":"ace""#))
      #expect(throws: SessionError.self) {
        try shard.send(Self.input(#"{"type":"ended"}"#, to: store), people[1], to: store)
      }
    }
  }

  // Regression: each subscriber received each event.
  @Test("an event goes to its recipients alone", arguments: ["game", "evening"])
  func events(store: String) async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listeners = [Listener(), Listener(), Listener()]
      defer { withExtendedLifetime(listeners) {} }
      let people = try Self.participant(listeners, ["ann", "bob", "bob"], at: store, shard)
      try shard.send(Self.input(#"{"type":"drawn","card":"ace"}"#, to: store), people[1], to: store)
      func events() -> [Int] { listeners.map { $0.take().count { $0.contains("\(store)! ") } } }
      #expect(events() == [0, 1, 1])
      try shard.send(Self.input(#"{"type":"ended"}"#, to: store), people[0], to: store)
      #expect(events() == [1, 1, 1])
    }
  }

  // Regression: a client could tell the store who watches it.
  @Test("a client cannot send the input of presence", arguments: ["game", "evening"])
  func presence(store: String) async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let people = try Self.participant([listener], ["ann"], at: store, shard)
      let input = Self.input(#"{"type":"watched","names":["eve"]}"#, to: store)
      let error = #expect(throws: SessionError.self) {
        try shard.send(input, people[0], to: store)
      }
      #expect("\(error as Any)".contains("only the server sends the input"))
      let state = try shard.turn {
        try people[0].subscription(store, isolation: shard).stateText
      }
      #expect(state.contains(#""watchers":["ann"]"#))
    }
  }

  @Test("a factory knows the name of the store")
  func name() async throws {
    let kinds = [
      StoreKind("greeting", configuration: CounterConfiguration.self) { _, _, name in
        Counter(from: name.utf8.count)
      }
    ]
    let states = try await Shard.make(kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let ann = listener.join(on: shard)
      return try ["a", "abc"].map { name in
        let opening = StoreOpening(
          name, kind: "greeting", configuration: .object([:]), of: shard.kinds)
        _ = try ann.session.open(opening, by: Viewer(), isolation: shard)
        return try ann.subscription(name, isolation: shard).stateText
      }
    }
    #expect(states == [#"{"count":1}"#, #"{"count":3}"#])
  }
}
