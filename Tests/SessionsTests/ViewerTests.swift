// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

/// A table at which each player has a hidden card, and at which the dealer alone may deal.
private struct Table: ViewerAwareMachine, AudienceMachine, PresenceAwareMachine, DurableMachine {
  enum Input: Codable, Sendable {
    case dealt(player: String, card: String)
    case shown
    case chatted(text: String)
    case present(names: [String])
    /// Changes nothing that a viewer sees.
    case shuffled
  }
  enum Action: Sendable {
    case deal(String, String)
    case show
    case say(String)
    case present([String])
    case shuffle
  }
  struct State: Codable, Sendable {
    var cards: [String: String] = [:]
    var areShown = false
    var chat: [String] = []
    var present: [String] = []
    var seed = 0
  }
  struct ViewState: Codable, Sendable {
    var cards: [String: String]
    var chat: [String]
    var present: [String]
  }

  let initialState = State()

  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    switch input {
    case .dealt(let player, let card): .action(.deal(player, card))
    case .shown: .action(.show)
    case .chatted(let text): .action(.say("\(viewer.name ?? "someone"): \(text)"))
    case .present(let names): .action(.present(names))
    case .shuffled: .action(.shuffle)
    }
  }

  func refusal(of input: Input, in state: State, from viewer: Viewer) -> InputRefusal? {
    if case .dealt = input, viewer.name != "dealer" {
      return InputRefusal(.value, "only the dealer deals")
    }
    return nil
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .deal(let player, let card): state.cards[player] = card
    case .show: state.areShown = true
    case .say(let line): state.chat.append(line)
    case .present(let names): state.present = names
    case .shuffle: state.seed += 1
    }
  }

  func view(of state: State) -> ViewState {
    ViewState(cards: state.cards, chat: state.chat, present: state.present)
  }

  func audience(of viewer: Viewer) -> String { viewer.name ?? "" }

  func view(of state: State, for player: String) -> ViewState {
    var view = view(of: state)
    if !state.areShown { view.cards = state.cards.filter { $0.key == player } }
    return view
  }

  func input(for viewers: [Viewer]) -> Input? { .present(names: viewers.map { $0.name ?? "?" }) }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }
}

@Suite("Viewers", .timeLimit(.minutes(15)))
struct ViewerTests {
  private static let kinds: [StoreKind] =
    .counters + [
      StoreKind("table", scope: .shared()) { Table() },
      StoreKind("vault", refusing: refusal) { Counter() },
      StoreKind("greeting", configuration: CounterConfiguration.self) { _, viewer in
        Counter(from: viewer.identity == "ann" ? 1 : 2)
      },
    ]

  @Sendable
  private static func refusal(_ access: StoreAccess, _ viewer: Viewer) -> InputRefusal? {
    switch access {
    case .open: viewer.identity == "ann" ? nil : InputRefusal(.value, "not for you")
    case .subscribe: viewer.name == "spy" ? InputRefusal(.value, "no spies") : nil
    case .send: viewer.name == "page" ? nil : InputRefusal(.value, "only the page")
    }
  }

  private static func participant(
    _ listener: Listener, named name: String?, of identity: String? = nil, _ shard: isolated Shard
  ) throws -> Participant {
    let participant = listener.join(on: shard)
    try shard.turn {
      _ = try participant.session.open(
        for: participant, named: name, identity: identity, isolation: shard)
    }
    return participant
  }

  private static func state(_ person: Participant, _ shard: isolated Shard) throws -> String {
    try shard.turn { try person.subscription("table", isolation: shard).stateText }
  }

  @Test("each audience gets updates of its own view, and only if it has changed")
  func audiences() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listeners = [Listener(), Listener(), Listener()]
      defer { withExtendedLifetime(listeners) {} }
      let people = try zip(listeners, ["dealer", "ann", "bob"]).map {
        try Self.participant($0, named: $1, shard)
      }
      for person in people {
        try shard.turn { try person.subscription("table", isolation: shard).subscribe(.patch) }
      }
      for listener in listeners { _ = listener.take() }
      let result = try shard.send(
        #"{"type":"dealt","player":"ann","card":"ace"}"#, people[0], to: "table")
      // The dealer does not see the card.
      #expect(result?.changed == false)
      #expect(listeners.map { $0.take().count } == [0, 1, 0])
      let chat = try shard.send(#"{"type":"chatted","text":"hi"}"#, people[2], to: "table")
      #expect(chat?.changed == true)
      for listener in listeners { #expect(listener.take().first?.contains("bob: hi") == true) }
      try shard.send(#"{"type":"shuffled"}"#, people[2], to: "table")
      #expect(listeners.map { $0.take().count } == [0, 0, 0])
      try shard.send(#"{"type":"shown"}"#, people[1], to: "table")
      let shown = listeners.map { $0.take() }
      #expect(shown.map(\.count) == [1, 0, 1])
      #expect(shown[2].first?.contains("ace") == true)
      let states = try shard.turn {
        try people.map { try $0.subscription("table", isolation: shard).stateText }
      }
      #expect(Set(states).count == 1)
    }
  }

  @Test("refusals and effects see the sender")
  func senders() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let ann = try Self.participant(listener, named: "ann", shard)
      #expect(throws: SessionError.self) {
        try shard.send(#"{"type":"dealt","player":"ann","card":"ace"}"#, ann, to: "table")
      }
      try shard.send(#"{"type":"chatted","text":"hi"}"#, ann, to: "table")
      let state = try shard.turn { try ann.subscription("table", isolation: shard).stateText }
      #expect(state.contains("ann: hi"))
    }
  }

  @Test("a kind refuses to be opened, subscribed to or sent to, and its factory sees the opener")
  func access() async throws {
    let refusals = try await Shard.make(Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let opening = StoreOpening(
        "v", kind: "vault", configuration: .object([:]), of: shard.kinds)
      let ann = listener.join(on: shard)
      var words: [String] = []
      do throws(SessionError) {
        _ = try ann.session.open(opening, by: Viewer(identity: "bob"), isolation: shard)
      } catch { words.append(error.words) }
      _ = try ann.session.open(opening, by: Viewer(identity: "ann"), isolation: shard)
      let subscription = try ann.subscription("v", isolation: shard)
      try subscription.check(.subscribe)
      do throws(SessionError) {
        try subscription.send(#"{"type":"add","amount":1}"#)
      } catch { words.append(error.words) }
      _ = try ann.session.open(for: ann, named: "page", identity: "ann", isolation: shard)
      try subscription.send(#"{"type":"add","amount":1}"#)
      _ = try ann.session.open(for: ann, named: "spy", identity: "ann", isolation: shard)
      do throws(SessionError) { try subscription.check(.subscribe) } catch {
        words.append(error.words)
      }
      let greeting = StoreOpening(
        "greeting", kind: "greeting", configuration: .object([:]), of: shard.kinds)
      _ = try ann.session.open(greeting, by: Viewer(identity: "ann"), isolation: shard)
      words.append(try ann.subscription("greeting", isolation: shard).stateText)
      return words
    }
    #expect(
      refusals == [
        "forbidden: not for you", "forbidden: only the page", "forbidden: no spies",
        #"{"count":1}"#,
      ])
  }

  @Test("no client is equal to the server")
  func server() async {
    await Shard.make(Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let client = listener.join(on: shard)
      #expect(client.viewer.identity == nil && client.viewer.name == nil)
      #expect(client.viewer == Viewer() && client.viewer != .server)
    }
  }

  @Test("a machine learns who has subscribed, in order, and who has left")
  func presence() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listeners = [Listener(), Listener()]
      defer { withExtendedLifetime(listeners) {} }
      let people = try zip(listeners, ["ann", "bob"]).map {
        try Self.participant($0, named: $1, shard)
      }
      for person in people {
        try shard.turn { try person.subscription("table", isolation: shard).subscribe(.patch) }
      }
      #expect(try Self.state(people[0], shard).contains(#""present":["ann","bob"]"#))
      #expect(listeners[0].take().last?.contains("bob") == true)
      shard.turn { people[1].session.leave(people[1], isolation: shard) }
      #expect(try Self.state(people[0], shard).contains(#""present":["ann"]"#))
    }
  }

  @Test("after a restart a machine learns that there are no subscribers")
  func presenceAfterRestart() async throws {
    let journal = MemoryJournal()
    try await Shard.journaled(journal, kinds: Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let ann = try Self.participant(listener, named: "ann", shard)
      try shard.turn { try ann.subscription("table", isolation: shard).subscribe(.patch) }
      #expect(try Self.state(ann, shard).contains(#""present":["ann"]"#))
    }
    try await Shard.journaled(journal, kinds: Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let bob = try Self.participant(listener, named: "bob", shard)
      #expect(try Self.state(bob, shard).contains(#""present":[]"#))
    }
  }

  @Test("a client resumes the view of its own audience, and never that of another one")
  func resuming() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (ann, handle) = try shard.join(one, named: "ann")
      let dealer = try Self.participant(other, named: "dealer", shard)
      try shard.send(#"{"type":"dealt","player":"ann","card":"ace"}"#, dealer, to: "table")
      let first = try shard.resume(handle, named: "ann", notifying: one, [("table", nil)])
      #expect(first.outcomes.first?.contains("ace") == true)
      _ = ann
      let revision = try shard.turn {
        try first.participant.subscription("table", isolation: shard).revision
      }
      let again = try shard.resume(handle, named: "ann", notifying: one, [("table", revision)])
      #expect(again.outcomes == ["replayed 0"])
      let bob = try shard.resume(handle, named: "bob", notifying: one, [("table", revision)])
      #expect(bob.outcomes.first?.hasPrefix("redacted") == true)
      #expect(bob.outcomes.first?.contains("ace") == false)
    }
  }

  @Test("a subscription counts for resuming, and an older view is not one of a reopened store")
  func resumingSubscription() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (ann, handle) = try shard.join(one, named: "ann")
      try shard.turn {
        let subscription = try ann.subscription("table", isolation: shard)
        subscription.subscribe(.patch)
        ann.remember(subscription)
      }
      let dealer = try Self.participant(other, named: "dealer", shard)
      func deal(_ card: String, _ shard: isolated Shard) throws -> Revision {
        try shard.send(#"{"type":"dealt","player":"ann","card":"\#(card)"}"#, dealer, to: "table")
        return try shard.turn { try ann.subscription("table", isolation: shard).revision }
      }
      let older = try deal("ace", shard)
      let newer = try deal("king", shard)
      var resumed = try shard.resume(handle, named: "ann", notifying: one, [("table", newer)])
      #expect(resumed.outcomes == ["replayed 0"])
      // The view of the audience is made again.
      shard.turn { resumed.participant.session.leave(resumed.participant, isolation: shard) }
      resumed = try shard.resume(handle, named: "ann", notifying: one, [("table", nil)])
      resumed = try shard.resume(handle, named: "ann", notifying: one, [("table", older)])
      #expect(resumed.outcomes.first?.hasPrefix("trimmed") == true)
    }
  }

  @Test("a client that has subscribed cannot take a name under which it would see another view")
  func renaming() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let participant = listener.join(on: shard)
      try shard.turn { try participant.subscription("table", isolation: shard).subscribe(.patch) }
      let words = shard.turn {
        do throws(SessionError) {
          _ = try participant.session.open(
            for: participant, named: "ann", identity: nil, isolation: shard)
          return ""
        } catch { return error.words }
      }
      #expect(words.hasPrefix("forbidden: unsubscribe from"))
      try shard.turn {
        try participant.unsubscribe(from: "table", isolation: shard)
        _ = try participant.session.open(
          for: participant, named: "ann", identity: nil, isolation: shard)
      }
    }
  }
}
