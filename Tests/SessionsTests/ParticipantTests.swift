// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireProtocol
import Testing

@testable import Sessions

/// Several clients in one session.
@Suite("Participants", .timeLimit(.minutes(15)))
struct ParticipantTests {
  private func attach(
    _ listener: Listener, _ handle: SessionHandle, as name: String? = nil,
    role: FrontendRole = .driver, stores: [String] = [], from participant: Participant? = nil,
    on shard: isolated Shard
  ) throws -> (Participant, Int?) {
    let (participant, resumption) = try shard.attach(
      AttachRequest(
        handle: handle.description, frontend: name, role: role,
        revisions: stores.map { ($0, nil) }),
      from: participant ?? listener.join(on: shard))
    return (listener.join(participant), resumption.sequence)
  }

  @Test("participants are notified of each other's presence")
  func presence() async throws {
    try await Shard.make(.counters).run { shard in
      let (one, two, three) = (Listener(), Listener(), Listener())
      let first = one.join(on: shard)
      let handle = try first.session.open(
        for: first, named: "page", identity: nil, isolation: shard)
      #expect(first.name == "page")
      let (second, _) = try attach(two, handle, as: "phone", on: shard)
      #expect(one.take() == ["phone attached driver of 2"])
      var (third, _) = try attach(three, handle, role: .observer, on: shard)
      #expect(one.take() == ["unnamed attached observer of 3"])
      #expect(two.take() == ["unnamed attached observer of 3"])
      (third, _) = try attach(three, handle, from: third, on: shard)
      #expect(one.take() == ["unnamed role driver of 3"])
      #expect(three.take() == [])
      // Attaching again with the same role is not a change.
      (third, _) = try attach(three, handle, from: third, on: shard)
      second.session.leave(second, isolation: shard)
      #expect(one.take() == ["phone detached driver of 2"])
      #expect(three.take() == ["phone detached driver of 2"])
      #expect(first.session.contents.participants.map(\.name) == ["page", nil])
      first.session.close(by: first, isolation: shard)
      #expect(one.take() == [])
      #expect(two.take() == ["unnamed role driver of 3"])
      #expect(three.take() == ["lost: closed"])
      #expect(throws: SessionError.self) { try third.subscription("counter", isolation: shard) }
    }
  }

  @Test("a name belongs to the newest connection that uses it")
  func eviction() async throws {
    try await Shard.make(.counters).run { shard in
      let (one, two, other) = (Listener(), Listener(), Listener())
      let first = one.join(on: shard)
      let handle = try first.session.open(
        for: first, named: "page", identity: nil, isolation: shard)
      try first.subscription("counter", isolation: shard).subscribe(.patch)
      let (_, _) = try attach(other, handle, on: shard)
      _ = one.take()
      let (second, _) = try attach(two, handle, as: "page", stores: ["counter"], on: shard)
      #expect(one.take() == ["lost: evicted"])
      #expect(other.take() == ["page detached driver of 1", "page attached driver of 2"])
      try second.subscription("counter", isolation: shard).send(#"{"type":"add","amount":1}"#)
      #expect(one.take() == [])
      #expect(two.take().count == 1)
      // A late leave of the evicted participant has no effect.
      first.session.leave(first, isolation: shard)
      #expect(second.session.contents.participants.count == 2)
    }
  }

  @Test(
    "when a client takes the name of another, the others see that one detach and this one change")
  func takenName() async throws {
    try await Shard.make([StoreKind("light") { Light() }]).run { shard in
      let (one, two, other) = (Listener(), Listener(), Listener())
      let first = one.join(on: shard)
      let handle = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      let lit = try first.session.attach(one.id(on: shard), to: "light", isolation: shard)
      let (second, _) = try attach(two, handle, as: "page", on: shard)
      let (third, _) = try attach(other, handle, on: shard)
      first.take(.inactive)
      third.take(.inactive)
      for listener in [one, two, other] { _ = listener.take() }
      _ = try first.session.open(for: first, named: "page", identity: nil, isolation: shard)
      #expect(two.take() == ["lost: evicted"])
      #expect(one.take() == ["page detached driver of 2"])
      #expect(other.take() == ["page detached driver of 2", "page role driver of 2"])
      // The evicted client was the only active one.
      #expect(lit.stateText == #"{"phases":"i"}"#)
      second.session.leave(second, isolation: shard)
    }
  }

  @Test("a session that cannot get a handle does not keep the requested name")
  func noHandle() async throws {
    var limits = SessionLimits()
    limits.sessions = 1
    limits.frontendNames = 1
    let (clock, time) = (ManualClock(), limits.timeToLive)
    try await Shard.make(.counters, limits: limits, clock: clock).run { shard in
      let (one, two) = (Listener(), Listener())
      let (first, second) = (one.join(on: shard), two.join(on: shard))
      _ = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      #expect(throws: SessionError.self) {
        try second.session.open(for: second, named: "a", identity: nil, isolation: shard)
      }
      #expect(second.name == nil)
      first.session.leave(first, isolation: shard)
      clock.advance(to: clock.now.advanced(by: time))
      // The first session has expired, although no client requested it since.
      _ = try second.session.open(for: second, named: "b", identity: nil, isolation: shard)
      #expect(second.name == "b")
      #expect(first.session.isEnded)
      #expect(one.take() == [] && two.take() == [])
    }
  }

  @Test("observers open no store, and a refused attach request changes nothing")
  func observersOpenNothing() async throws {
    try await Shard.make(.counters).run { shard in
      let (one, two) = (Listener(), Listener())
      let first = one.join(on: shard)
      let handle = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      let other = two.join(on: shard)
      for (role, stores, expected) in [
        (.observer, ["counter"], "observer"), (.observer, ["nothing"], "unknown store nothing"),
        (.driver, ["counter", "nothing"], "unknown store nothing"),
      ] as [(FrontendRole, [String], String)] {
        let request = AttachRequest(
          handle: handle.description, role: role, revisions: stores.map { ($0, nil) })
        #expect(shard.refusal(request, from: other) == expected)
      }
      #expect(first.session.contents.stores.isEmpty)
      let (second, _) = try attach(two, handle, role: .observer, on: shard)
      #expect(throws: SessionError.self) { try second.subscription("counter", isolation: shard) }
      #expect(first.session.contents.stores.isEmpty)
      _ = try first.subscription("counter", isolation: shard)
      _ = try second.subscription("counter", isolation: shard)
    }
  }

  @Test("an observer is not a driver until it attaches again as one")
  func observers() async throws {
    try await Shard.make(.counters).run { shard in
      let (one, two) = (Listener(), Listener())
      let first = one.join(on: shard)
      let handle = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      var (second, _) = try attach(two, handle, role: .observer, on: shard)
      #expect(throws: SessionError.self) { try second.checkDriver() }
      (second, _) = try attach(two, handle, from: second, on: shard)
      try second.checkDriver()
    }
  }

  @Test("a session is active while at least one of its clients is active")
  func phases() async throws {
    try await Shard.make([StoreKind("light") { Light() }]).run { shard in
      let (one, two) = (Listener(), Listener())
      let first = one.join(on: shard)
      let handle = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      let lit = try first.session.attach(one.id(on: shard), to: "light", isolation: shard)
      func light() -> String { lit.stateText }
      #expect(light() == #"{"phases":""}"#)
      let (second, _) = try attach(two, handle, on: shard)
      first.take(.inactive)
      #expect(light() == #"{"phases":""}"#)
      second.take(.inactive)
      #expect(light() == #"{"phases":"i"}"#)
      second.take(.active)
      #expect(light() == #"{"phases":"ia"}"#)
      second.session.leave(second, isolation: shard)
      #expect(light() == #"{"phases":"iai"}"#)
      let (third, _) = try attach(two, handle, on: shard)
      #expect(light() == #"{"phases":"iaia"}"#)
      third.session.leave(third, isolation: shard)
      first.session.leave(first, isolation: shard)
      let (fourth, resumption) = try shard.attach(
        AttachRequest(handle: handle.description, revisions: [("light", nil)]),
        from: two.join(on: shard))
      guard case .snapshot(_, let subscription)? = resumption.stores.first?.outcome else {
        Issue.record("no snapshot")
        return
      }
      // The snapshot in the response includes the phase change of this attach request, so no update
      // follows.
      #expect(subscription.stateText == #"{"phases":"iaiaia"}"#)
      #expect(two.take() == ["unnamed attached driver of 2"] || two.heard.isEmpty)
      fourth.session.leave(fourth, isolation: shard)
    }
  }

  @Test("a participant recognises an input that is sent again by its sequence number")
  func sequences() async throws {
    let clock = ManualClock()
    try await Shard.make(.counters, clock: clock).run { shard in
      let (one, two) = (Listener(), Listener())
      let first = one.join(on: shard)
      #expect(throws: SessionError.self) { try first.hasAccepted(1) }
      let handle = try first.session.open(
        for: first, named: "page", identity: nil, isolation: shard)
      #expect(try !first.hasAccepted(1))
      let subscription = try first.subscription("counter", isolation: shard)
      let result = try #require(try subscription.send(#"{"type":"addLater","amount":1}"#))
      first.accepted(5, result, subscription)
      #expect(try first.hasAccepted(5) && first.hasAccepted(4) && !first.hasAccepted(6))
      let (second, sequence) = try attach(two, handle, as: "page", on: shard)
      #expect(sequence == 5)
      let again = try second.subscription("counter", isolation: shard)
      #expect(try second.hasAccepted(5))
      let inputID = try #require(second.running(5, again))
      #expect(second.running(4, again) == nil)
      again.cancel(inputID)
      #expect(second.running(5, again) == nil)
      // Each name has its own sequence numbers.
      let (third, none) = try attach(one, handle, as: "phone", on: shard)
      #expect(none == 0)
      #expect(try !third.hasAccepted(1))
    }
  }

  @Test("the length and the number of names are limited")
  func names() async throws {
    var limits = SessionLimits()
    limits.frontendNames = 2
    limits.frontendNameBytes = 4
    try await Shard.make(.counters, limits: limits).run { shard in
      let listener = Listener()
      let first = listener.join(on: shard)
      let handle = try first.session.open(
        for: first, named: "1234", identity: nil, isolation: shard)
      let other = listener.join(on: shard)
      for (name, expected) in [
        ("12345", "limit frontendNameBytes"), ("b", nil), ("c", "limit frontendNames"), ("b", nil),
      ] {
        let request = AttachRequest(handle: handle.description, frontend: name)
        #expect(shard.refusal(request, from: other) == expected, "\(name)")
      }
    }
  }
}

/// Records the phases of its session.
private struct Light: StateMachine {
  enum Input: Codable, Sendable { case phase(String) }
  struct State: Codable, Sendable { var phases = "" }

  let initialState = State()

  func input(for phase: LifecyclePhase) -> Input? { .phase(phase == .active ? "a" : "i") }
  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func reduce(_ state: inout State, _ action: Input) {
    if case .phase(let phase) = action { state.phases += phase }
  }
}
