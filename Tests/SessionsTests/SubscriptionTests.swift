// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import TestSupport
import Testing

@testable import Sessions

@Suite("Subscription", .timeLimit(.minutes(15)))
struct SubscriptionTests {
  static func patch(_ base: Int, _ count: Int, applied: String = "") -> String {
    """
    \(applied): "store":"counter","base":\(base),"revision":\(base + 1),"patch":\
    [{"op":"replace","path":"/count","value":\(count)}]
    """
  }

  static func state(_ base: Int, _ count: Int, applied: String = "") -> String {
    """
    \(applied): "store":"counter","base":\(base),"revision":\(base + 1),"state":{"count":\(count)}
    """
  }

  @Test("a subscription receives changes in its format while it is subscribed")
  func formats() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      try subscription.send(#"{"type":"add","amount":1}"#)
      #expect(listener.take() == [])
      subscription.subscribe(.patch)
      try subscription.send(#"{"type":"add","amount":1}"#)
      subscription.subscribe(.state)
      try subscription.send(#"{"type":"add","amount":1}"#)
      subscription.subscribe(.patch)
      try subscription.send(#"{"type":"add","amount":0}"#)
      try subscription.send(#"{"type":"add","amount":1}"#)
      subscription.unsubscribe()
      try subscription.send(#"{"type":"add","amount":1}"#)
      #expect(listener.take() == [Self.patch(1, 2), Self.state(2, 3), Self.patch(3, 4)])
      #expect(subscription.revision == 5)
    }
  }

  @Test("several clients receive the same updates, each with its own last request")
  func several() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listeners = (0..<3).map { _ in Listener() }
      let subscriptions = try listeners.map {
        try session.attach($0.id(on: shard), to: "counter", isolation: shard)
      }
      subscriptions[0].subscribe(.patch)
      subscriptions[1].subscribe(.state)
      try subscriptions[0].send(#"{"type":"add","amount":1}"#, request: "1")
      try subscriptions[1].send(#"{"type":"add","amount":1}"#, request: "\"x\"")
      try subscriptions[2].send(#"{"type":"add","amount":1}"#, request: "3")
      try subscriptions[0].send(#"{"type":"add","amount":1}"#)
      #expect(
        listeners[0].take() == [
          Self.patch(0, 1, applied: "1"), Self.patch(1, 2, applied: "1"),
          Self.patch(2, 3, applied: "1"), Self.patch(3, 4, applied: "1"),
        ])
      #expect(
        listeners[1].take() == [
          Self.state(0, 1), Self.state(1, 2, applied: "\"x\""), Self.state(2, 3, applied: "\"x\""),
          Self.state(3, 4, applied: "\"x\""),
        ])
      #expect(listeners[2].take() == [])
    }
  }

  @Test("only the last update of an input names its request, in each format")
  func lastOfSeveral() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let sender = Listener()
      let other = Listener()
      let subscription = try session.attach(sender.id(on: shard), to: "counter", isolation: shard)
      let observer = try session.attach(other.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.state)
      observer.subscribe(.patch)
      try subscription.send(#"{"type":"addEach","amounts":[1,0,2,0]}"#, request: "1")
      #expect(sender.take() == [Self.state(0, 1), Self.state(1, 3, applied: "1")])
      #expect(other.take() == [Self.patch(0, 1), Self.patch(1, 3)])
      try subscription.send(#"{"type":"addEach","amounts":[]}"#, request: "2")
      try subscription.send(#"{"type":"addEach","amounts":[1,1]}"#, request: "3")
      #expect(
        sender.take() == [Self.state(2, 4, applied: "2"), Self.state(3, 5, applied: "3")])
    }
  }

  @Test("a refused input changes nothing")
  func refused() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      for (input, refusal) in [
        ("{}", "input /type"), (#"{"type":"sub"}"#, "input /type"),
        (#"{"type":"add"}"#, "input /amount"), (#"{"type":"add","amount":"1"}"#, "input /amount"),
        (#"{"type":"addEach","amounts":[1,null]}"#, "input /amounts/1"), ("7", "input "),
      ] {
        #expect(
          subscription.refusal(sending: input, request: "9") == refusal)
      }
      try subscription.send(#"{"type":"add","amount":1}"#)
      #expect(listener.take() == [Self.patch(0, 1)])
    }
  }

  @Test("only subscribers are notified of the end of a store, once")
  func end() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listeners = (0..<3).map { _ in Listener() }
      let subscriptions = try listeners.map {
        try session.attach($0.id(on: shard), to: "counter", isolation: shard)
      }
      subscriptions[0].subscribe(.patch)
      subscriptions[1].subscribe(.state)
      subscriptions[1].unsubscribe()
      try session.close("counter", isolation: shard)
      #expect(listeners.map { $0.take() } == [["counter: closed"], [], []])
      #expect(subscriptions.allSatisfy { $0.isClosed && $0.format == nil })
    }
  }

  @Test("a client that is detached receives nothing")
  func detach() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let stays = Listener()
      let subscription = try session.attach(stays.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      do {
        let goes = Listener()
        let gone = try session.attach(goes.id(on: shard), to: "counter", isolation: shard)
        gone.subscribe(.state)
        session.detach([gone])
      }
      try subscription.send(#"{"type":"add","amount":1}"#)
      try session.close("counter", isolation: shard)
      #expect(stays.take() == [Self.patch(0, 1), "counter: closed"])
    }
  }

  @Test("updates of running work are sent, and the work is cancelled with its input")
  func work() async throws {
    let clock = ManualClock()
    try await Shard.make(.counters, clock: clock).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      let first = try #require(
        try subscription.send(#"{"type":"addLater","amount":1}"#, request: "1"))
      let second = try #require(
        try subscription.send(#"{"type":"addLater","amount":2}"#, request: "2"))
      #expect(!first.isSettled)
      var settled: [(String, Completion)] = []
      subscription.whenSettled(first.inputID) { settled.append(("first", $0)) }
      subscription.whenSettled(second.inputID) { settled.append(("second", $0)) }
      subscription.cancel(first.inputID)
      #expect(settled.map(\.0) == ["first"])
      #expect(settled[0].1.revision == 0)
      await eventually("the second work sleeps") { clock.sleeperCount > 0 }
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      await listener.hears(1, on: shard)
      #expect(listener.take() == [Self.patch(0, 2, applied: "2")])
      await eventually("the second input has settled") { settled.count == 2 }
      #expect(settled[1].1.revision == 1)
      #expect(!settled[1].1.wasClosed)
      subscription.whenSettled(second.inputID) { settled.append(("again", $0)) }
      #expect(settled.count == 3)
    }
  }

  @Test("updates are correct before and after large updates")
  func large() async throws {
    try await Shard.make([StoreKind("counter") { Echo() }]).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.state)
      for count in [100_000, 3, 100_000, 0] {
        let text = String(repeating: "x", count: count)
        try subscription.send(#"{"type":"say","text":"\#(text)"}"#)
        #expect(listener.take()[0].hasSuffix(#""state":{"text":"\#(text)"}"#))
      }
    }
  }

  private struct Echo: StateMachine {
    enum Input: Codable, Sendable { case say(text: String) }
    struct State: Codable, Sendable { var text = "-" }
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<String> {
      switch input {
      case .say(let text): .action(text)
      }
    }
    func reduce(_ state: inout State, _ action: String) { state.text = action }
  }
}
