// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Sessions

@Suite("Session", .timeLimit(.minutes(15)))
struct SessionTests {
  @Test("a session opens stores by kind and configuration, each of them once")
  func open() async {
    await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      #expect(session.refusal(opening: "a", as: "counter", on: shard) == nil)
      #expect(session.refusal(opening: "a", as: "counter", on: shard) == nil)
      #expect(session.refusal(opening: "a", as: "from", on: shard) == "other configuration a")
      #expect(
        session.refusal(opening: "a", as: "counter", ["x": 1], on: shard) == "other configuration a"
      )
      #expect(session.refusal(opening: "b", as: "from", ["start": 5], on: shard) == nil)
      #expect(session.refusal(opening: "b", as: "from", ["start": 5.0], on: shard) == nil)
      #expect(
        session.refusal(opening: "b", as: "from", ["start": 6], on: shard)
          == "other configuration b")
      #expect(session.refusal(opening: "c", as: "none", on: shard) == "unknown kind none")
      #expect(
        session.refusal(opening: "c", as: "from", ["start": "x"], on: shard)
          == "configuration /start")
      #expect(session.refusal(opening: "c", as: "from", 7, on: shard) == "configuration ")
      #expect(session.refusal(opening: "c", as: "counter", [], on: shard) == "configuration ")
      #expect(session.refusal(opening: "c", as: "counter", ["whatever": nil], on: shard) == nil)
    }
  }

  @Test("a session opens the store named after a kind on first use")
  func attach() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "from", isolation: shard)
      #expect(subscription.name == "from")
      #expect(subscription.stateText == #"{"count":0}"#)
      #expect(subscription.revision == 0)
      #expect(subscription.format == nil)
      #expect(
        session.refusal(attachingTo: "none", on: shard) == "unknown store none")
      #expect(
        try session.open("from", kind: "from", configuration: [:], isolation: shard) == 0)
    }
  }

  @Test("a session closes stores, opens them again and continues their revisions")
  func close() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      #expect(session.refusal(closing: "counter", on: shard) == "unknown store counter")
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      try subscription.send(#"{"type":"add","amount":3}"#)
      subscription.subscribe(.patch)
      #expect(session.refusal(closing: "counter", on: shard) == nil)
      #expect(listener.take() == ["counter: closed"])
      #expect(subscription.isClosed)
      #expect(session.refusal(closing: "counter", on: shard) == "closed counter")
      #expect(
        session.refusal(attachingTo: "counter", on: shard) == "closed counter")
      #expect(
        subscription.refusal(sending: #"{"type":"add","amount":3}"#) == "closed counter")

      let revision = try session.open(
        "counter", kind: "from", configuration: ["start": 7], isolation: shard)
      #expect(revision == 2)
      let again = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      #expect(again.stateText == #"{"count":7}"#)
      again.subscribe(.patch)
      try again.send(#"{"type":"add","amount":1}"#)
      #expect(
        listener.take() == [
          #": "store":"counter","base":2,"revision":3,"patch":[{"op":"replace","path":"/count","value":8}]"#
        ])
      // The old subscription is still closed.
      #expect(
        subscription.refusal(sending: #"{"type":"add","amount":3}"#) == "closed counter")
    }
  }

  @Test("a store that cannot be opened again stays closed")
  func reopenFails() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      _ = try session.open("a", kind: "from", configuration: [:], isolation: shard)
      try session.close("a", isolation: shard)
      for (kind, configuration) in [("none", [:]), ("from", ["start": "x"])]
        as [(String, JSONValue)]
      {
        #expect(
          session.refusal(opening: "a", as: kind, configuration, on: shard) != nil)
        #expect(
          session.refusal(attachingTo: "a", on: shard) == "closed a")
      }
      #expect(try session.open("a", kind: "from", configuration: [:], isolation: shard) == 1)
    }
  }

  @Test("a session enforces the limits of store names and of the number of stores")
  func limits() async throws {
    var limits = SessionLimits()
    limits.storesPerSession = 2
    limits.storeNameBytes = 4
    try await Shard.make(.counters, limits: limits).run { shard in
      let session = Session(isolation: shard)
      #expect(session.refusal(opening: "\u{E9}\u{E9}", as: "counter", on: shard) == nil)
      #expect(
        session.refusal(opening: "\u{E9}\u{E9}x", as: "counter", on: shard)
          == "limit storeNameBytes")
      #expect(session.refusal(opening: "", as: "counter", on: shard) == nil)
      #expect(session.refusal(opening: "b", as: "counter", on: shard) == "limit storesPerSession")
      try session.close("", isolation: shard)
      #expect(
        session.refusal(opening: "b", as: "counter", on: shard) == "limit storesPerSession",
        "a closed name still counts")
      #expect(session.refusal(opening: "", as: "counter", on: shard) == nil)
    }
  }

  @Test("the end of a session ends its stores and their work")
  func end() async throws {
    let clock = ManualClock()
    try await Shard.make(.counters, clock: clock).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      let result = try #require(try subscription.send(#"{"type":"addLater","amount":1}"#))
      var completion: Completion?
      subscription.whenSettled(result.inputID) { completion = $0 }
      _ = try session.open("b", kind: "counter", configuration: [:], isolation: shard)
      try session.close("b", isolation: shard)
      session.end(isolation: shard)
      #expect(completion?.wasClosed == true)
      #expect(
        subscription.refusal(sending: #"{"type":"add","amount":3}"#) == "closed counter")
      #expect(listener.take() == [])
      // An ended session is empty, so its stores can be opened again.
      #expect(
        try session.attach(listener.id(on: shard), to: "counter", isolation: shard).revision == 0)
    }
  }
}
