// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

@Suite("Shared stores", .timeLimit(.minutes(15)))
struct SharedStoreTests {
  private static func kinds(_ bank: Bank = Bank()) -> [StoreKind] {
    .counters + [
      StoreKind("board", scope: .shared(keptFor: .seconds(1000))) { Errands(bank: bank) },
      StoreKind("tally", scope: .shared()) { Counter() },
      StoreKind("own", scope: .shared(by: .identity)) { Errands(bank: bank) },
      StoreKind("room", configuration: CounterConfiguration.self, scope: .shared()) {
        Counter(from: $0.start ?? 0)
      },
    ]
  }

  private static func shard(
    _ journal: MemoryJournal? = nil, _ bank: Bank = Bank(), limits: SessionLimits = .init()
  ) -> Shard {
    guard let journal else { return .make(kinds(bank), limits: limits) }
    return .journaled(journal, kinds: kinds(bank), limits: limits)
  }

  private static func open(
    _ name: String, startingAt start: String, _ participant: Participant, _ shard: isolated Shard
  ) throws {
    let configuration = try JSONValue(parsing: Array(#"{"start":\#(start)}"#.utf8))
    _ = try participant.session.open(
      name, kind: "room", configuration: configuration, isolation: shard)
  }

  /// The states of two shared stores that a new client sees, which then leaves.
  private static func states(
    _ listener: Listener, _ shard: isolated Shard
  ) throws -> [String] {
    let participant = listener.join(on: shard)
    defer { shard.turn { participant.session.leave(participant, isolation: shard) } }
    return try shard.turn {
      try ["tally", "board"].map { try participant.subscription($0, isolation: shard).stateText }
    }
  }

  @Test("an input of one session updates the subscribers of all, in one order of revisions")
  func sharing() async throws {
    try await Self.shard().run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (first, second) = (one.join(on: shard), other.join(on: shard))
      try shard.turn {
        try first.subscription("tally", isolation: shard).subscribe(.patch)
        try second.subscription("tally", isolation: shard).subscribe(.patch)
      }
      let result = try shard.send(#"{"type":"add","amount":2}"#, first, to: "tally")
      #expect(result?.changed == true && result?.revision == 1)
      let after = try shard.send(#"{"type":"add","amount":3}"#, second, to: "tally")
      #expect(after?.revision == 2)
      let updates = [
        #"{"op":"replace","path":"/count","value":2}"#,
        #"{"op":"replace","path":"/count","value":5}"#,
      ]
      for listener in [one, other] {
        let heard = listener.take()
        #expect(heard.count == 2)
        for (line, update) in zip(heard, updates) { #expect(line.contains(update)) }
      }
      #expect(first.session !== second.session)
    }
  }

  @Test("stores are shared by name, and another configuration is refused")
  func names() async throws {
    try await Self.shard().run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (first, second) = (one.join(on: shard), other.join(on: shard))
      try Self.open("a", startingAt: "1", first, shard)
      try Self.open("b", startingAt: "2", second, shard)
      try Self.open("a", startingAt: "1", second, shard)
      try shard.send(#"{"type":"add","amount":1}"#, first, to: "a")
      let states = try shard.turn {
        try ["a", "b"].map { try second.subscription($0, isolation: shard).stateText }
      }
      #expect(states == [#"{"count":2}"#, #"{"count":2}"#])
      #expect(throws: SessionError.self) { try Self.open("b", startingAt: "3", first, shard) }
      // The failed opening leaves nothing.
      #expect(first.session.contents.stores.map(\.name) == ["a"])
    }
  }

  @Test("stores of an identity are shared by its sessions only")
  func identities() async throws {
    try await Self.shard(MemoryJournal()).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let people = try ["ann", "ann", "bob"].map { identity in
        let participant = listener.join(on: shard)
        try shard.turn {
          _ = try participant.session.open(
            for: participant, named: nil, identity: identity, isolation: shard)
        }
        return participant
      }
      try shard.send(#"{"type":"add","amount":4}"#, people[0], to: "own")
      let states = try shard.turn {
        try people.map { try $0.subscription("own", isolation: shard).stateText }
      }
      #expect(states.map { $0.contains("4") } == [true, true, false])
    }
  }

  @Test("a session that closes a shared store or ends leaves the store to the others")
  func leaving() async throws {
    try await Self.shard().run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (first, second) = (one.join(on: shard), other.join(on: shard))
      try shard.turn {
        try first.subscription("tally", isolation: shard).subscribe(.patch)
        try second.subscription("tally", isolation: shard).subscribe(.patch)
      }
      try shard.send(#"{"type":"add","amount":2}"#, first, to: "tally")
      try shard.turn { try second.session.close("tally", isolation: shard) }
      #expect(other.take().last == "tally: closed")
      #expect(throws: SessionError.self) {
        try shard.send(#"{"type":"add","amount":2}"#, second, to: "tally")
      }
      try shard.send(#"{"type":"add","amount":2}"#, first, to: "tally")
      #expect(one.take().count == 2 && other.take().isEmpty)
      let revision = try shard.turn {
        try second.session.open(
          "tally", kind: "tally", configuration: .object([:]), isolation: shard)
      }
      #expect(revision == 2)
      shard.turn { first.session.leave(first, isolation: shard) }
      try shard.send(#"{"type":"add","amount":1}"#, second, to: "tally")
      let state = try shard.turn { try second.subscription("tally", isolation: shard).stateText }
      #expect(state == #"{"count":5}"#)
    }
  }

  @Test("a shared store without users ends after its time, and counts as a session until then")
  func expiry() async throws {
    var limits = SessionLimits()
    limits.timeToLive = .seconds(60)
    try await Self.shard(MemoryJournal(), limits: limits).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let participant = listener.join(on: shard)
      for store in ["tally", "board"] {
        try shard.send(#"{"type":"add","amount":2}"#, participant, to: store)
      }
      shard.turn { participant.session.leave(participant, isolation: shard) }
      #expect(shard.directory.count == 2)
      await shard.pass(seconds: 59)
      #expect(try Self.states(listener, shard).map { $0.contains("2") } == [true, true])
      await shard.pass(seconds: 61)
      // The state of the counter is not journaled.
      #expect(try Self.states(listener, shard).map { $0.contains("2") } == [false, true])
      await shard.pass(seconds: 1001)
      #expect(shard.directory.count == 0)
      #expect(shard.sharedStores.isEmpty)
    }
  }

  @Test("updates of a store are not replayed to a client that holds a state of an ended one")
  func incarnations() async throws {
    var limits = SessionLimits()
    limits.timeToLive = .seconds(60)
    try await Self.shard(MemoryJournal(), limits: limits).run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (first, handle) = try shard.join(one, named: "page")
      for _ in 1...3 { try shard.send(#"{"type":"add","amount":1}"#, first, to: "tally") }
      try shard.turn { try first.session.close("tally", isolation: shard) }
      await shard.pass(seconds: 61)
      #expect(shard.sharedStores.isEmpty)
      let revision = try shard.turn {
        try first.session.open(
          "tally", kind: "tally", configuration: .object([:]), isolation: shard)
      }
      #expect(revision == 0)
      for _ in 1...4 { try shard.send(#"{"type":"add","amount":1}"#, first, to: "tally") }
      shard.turn { first.session.leave(first, isolation: shard) }
      let held: [(store: String, revision: Revision?)] = [("tally", 3)]
      let (again, outcomes, _) = try shard.resume(
        handle, named: "page", notifying: other, held)
      #expect(outcomes == [#"reopened 4 {"count":4}"#])
      shard.turn { again.session.leave(again, isolation: shard) }
      // This one holds a state of the present store.
      let (_, later, _) = try shard.resume(
        handle, named: "page", notifying: other, [("tally", 4)])
      #expect(later == ["replayed 0"])
    }
  }

  @Test("a durable shared store and its users continue in another process")
  func restart() async throws {
    let (journal, bank) = (MemoryJournal(), Bank())
    let handle = try await Self.shard(journal, bank).run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (first, handle) = try shard.join(one, named: "page")
      let second = other.join(on: shard)
      try shard.send(#"{"type":"add","amount":2}"#, second, to: "board")
      try shard.send(#"{"type":"add","amount":3}"#, first, to: "board", sequence: 1)
      try shard.send(#"{"type":"risk","item":7}"#, second, to: "board")
      return handle
    }
    try await Self.shard(journal, bank).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      try shard.restoreAll()
      let (participant, outcomes, sequence) = try shard.resume(
        handle, named: "page", notifying: listener, [("board", 1)])
      #expect(outcomes == ["replayed 2"] && sequence == 1)
      let state = try shard.turn {
        try participant.subscription("board", isolation: shard).stateText
      }
      #expect(state == #"{"count":5,"done":[],"failed":[7]}"#)
      // A new session finds the same store.
      let other = listener.join(on: shard)
      try shard.send(#"{"type":"add","amount":1}"#, other, to: "board")
      let shown = try shard.turn {
        try participant.subscription("board", isolation: shard).stateText
      }
      #expect(shown.contains(#""count":6"#))
    }
  }

  @Test("a client of another session waits for the commit of a state that it asks for")
  func commits() async throws {
    let journal = MemoryJournal()
    try await Self.shard(journal).run { shard in
      let (one, other) = (Listener(), Listener())
      defer { withExtendedLifetime((one, other)) {} }
      let (first, second) = (one.join(on: shard), other.join(on: shard))
      try shard.turn {
        try first.subscription("board", isolation: shard).subscribe(.patch)
        try second.subscription("board", isolation: shard).subscribe(.patch)
      }
      let delivery = try shard.turn {
        try shard.send(#"{"type":"add","amount":2}"#, first, to: "board")
        return Delivery(to: second.session, on: shard)
      }
      #expect(delivery.fate == .sent)
      journal.isFull = true
      let lost = try shard.turn {
        try shard.send(#"{"type":"add","amount":2}"#, first, to: "board")
        return Delivery(to: second.session, on: shard)
      }
      #expect(lost.fate == .lost)
      // The clients of all users are disconnected.
      #expect(one.cuts > 0 && other.cuts > 0)
    }
  }

  @Test("no client can attach to the session that owns a shared store")
  func secrecy() async throws {
    try await Self.shard(MemoryJournal()).run { shard in
      let listener = Listener()
      defer { withExtendedLifetime(listener) {} }
      let participant = listener.join(on: shard)
      try shard.send(#"{"type":"add","amount":2}"#, participant, to: "board")
      let owner = try #require(shard.sharedStores.values.first?.owner.handle)
      #expect(shard.refusal(comingBackTo: owner) != nil)
    }
  }
}
