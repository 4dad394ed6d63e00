// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Sessions

/// Sessions that outlive their connections.
@Suite("Resuming", .timeLimit(.minutes(15)))
struct ResumingTests {
  private func add(
    _ amount: Int, _ participant: Participant, _ shard: isolated Shard, to store: String = "counter"
  ) throws {
    try participant.subscription(store, isolation: shard).send(
      #"{"type":"add","amount":\#(amount)}"#)
  }

  /// Attaches a client, and returns the contents that it receives, as text.
  private func attach(
    _ listener: Listener, _ participant: Participant, _ handle: SessionHandle,
    _ revisions: [(store: String, revision: Int?)], on shard: isolated Shard
  ) throws -> (Participant, [String]) {
    let (participant, resumption) = try shard.attach(
      AttachRequest(
        handle: handle.description, revisions: revisions),
      from: participant)
    let words = resumption.stores.map { store in
      switch store.outcome {
      case .replayed(let count, let subscription):
        var frames: [String] = []
        subscription.replay(from: subscription.revision - count) {
          frames.append(String(decoding: $0, as: UTF8.self))
        }
        #expect(frames.count == count)
        return "\(store.name) \(count) \(frames.joined(separator: " "))"
      case .snapshot(let reason, let subscription):
        return "\(store.name) \(reason) \(subscription.revision) \(subscription.stateText)"
      case .closed: return "\(store.name) closed"
      }
    }
    return (listener.join(participant), words)
  }

  private func frame(_ base: Int, _ count: Int) -> String {
    #""store":"counter","base":\#(base),"revision":\#(base + 1),"#
      + #""patch":[{"op":"replace","path":"/count","value":\#(count)}]"#
  }

  @Test("resuming replays exactly the missed updates, or sends the state and the reason")
  func replay() async throws {
    try await Shard.make(.counters).run { shard in
      let (one, two) = (Listener(), Listener())
      let first = one.join(on: shard)
      try add(1, first, shard)
      let handle = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      try add(1, first, shard)
      try add(1, first, shard)
      first.session.leave(first, isolation: shard)

      var participant = two.join(on: shard)
      for (held, expected) in [
        (3, "counter 0 "), (2, "counter 1 \(frame(2, 3))"),
        (1, "counter 2 \(frame(1, 2)) \(frame(2, 3))"),
        // Revisions from before the session had a handle.
        (0, "counter trimmed 3 {\"count\":3}"), (nil, "counter none 3 {\"count\":3}"),
        (4, "counter ahead 3 {\"count\":3}"),
      ] as [(Int?, String)] {
        let words: [String]
        (participant, words) = try attach(two, participant, handle, [("counter", held)], on: shard)
        #expect(words == [expected])
      }
      // The client is subscribed, so it receives new updates, and nothing else.
      try add(5, participant, shard)
      #expect(two.take() == [": \(frame(3, 8))"])
      (participant, _) = try attach(two, participant, handle, [], on: shard)
      try add(5, participant, shard)
      #expect(two.take() == [])
    }
  }

  @Test("the response states that a store was closed, or was opened again since")
  func reopened() async throws {
    try await Shard.make(.counters).run { shard in
      let listener = Listener()
      let first = listener.join(on: shard)
      let handle = try first.session.open(for: first, named: nil, identity: nil, isolation: shard)
      try add(1, first, shard)
      try first.session.close("counter", isolation: shard)
      var (participant, words) = try attach(listener, first, handle, [("counter", 1)], on: shard)
      #expect(words == ["counter closed"])
      _ = try participant.session.open(
        "counter", kind: "counter", configuration: [:], isolation: shard)
      try add(7, participant, shard)
      (participant, words) = try attach(listener, participant, handle, [("counter", 1)], on: shard)
      #expect(words == ["counter reopened 3 {\"count\":7}"])
      (participant, words) = try attach(listener, participant, handle, [("counter", 2)], on: shard)
      #expect(words == ["counter 1 \(frame(2, 7))"])
    }
  }

  @Test("no update from before a redaction is replayed")
  func redacted() async throws {
    try await Shard.make([StoreKind("secret") { Secret() }]).run { shard in
      let listener = Listener()
      var participant = listener.join(on: shard)
      let handle = try participant.session.open(
        for: participant, named: nil, identity: nil, isolation: shard)
      let secret = try participant.session.attach(
        listener.id(on: shard), to: "secret", isolation: shard)
      try secret.send(#"{"type":"show"}"#)
      try secret.send(#"{"type":"hide"}"#)
      var words: [String]
      (participant, words) = try attach(listener, participant, handle, [("secret", 1)], on: shard)
      #expect(words == ["secret redacted 2 {\"text\":\"\"}"])
      (participant, words) = try attach(listener, participant, handle, [("secret", 0)], on: shard)
      #expect(words == ["secret redacted 2 {\"text\":\"\"}"])
      try secret.send(#"{"type":"show"}"#)
      (participant, words) = try attach(listener, participant, handle, [("secret", 2)], on: shard)
      #expect(words.count == 1 && words[0].hasPrefix("secret 1 ") && words[0].contains("swordfish"))
    }
  }

  @Test("a session without clients ends after its time to live, and cannot be resumed again")
  func expiry() async throws {
    let clock = ManualClock()
    var limits = SessionLimits()
    limits.timeToLive = .seconds(120)
    try await Shard.make(.counters, limits: limits, clock: clock).run { shard in
      let listener = Listener()
      var participant = listener.join(on: shard)
      let handle = try participant.session.open(
        for: participant, named: nil, identity: nil, isolation: shard)
      let never = String(repeating: "0", count: 32)
      for _ in 1...2 {
        participant.session.leave(participant, isolation: shard)
        clock.advance(to: clock.now.advanced(by: .seconds(119)))
        shard.expireSessions()
        (participant, _) = try attach(listener, listener.join(on: shard), handle, [], on: shard)
      }
      // A session with an attached client does not expire.
      clock.advance(to: clock.now.advanced(by: .seconds(1000)))
      shard.expireSessions()
      try add(1, participant, shard)
      participant.session.leave(participant, isolation: shard)
      clock.advance(to: clock.now.advanced(by: .seconds(120)))
      let other = listener.join(on: shard)
      #expect(
        shard.refusal(AttachRequest(handle: handle.description), from: other) == "expired session")
      for handle in [never, "", "x", handle.description + "0"] {
        #expect(shard.refusal(AttachRequest(handle: handle), from: other) == "unknown session")
      }
    }
  }

  // A client waited until thousands of sessions and their stores had ended.
  @Test("a client waits for the end of few sessions, and resumes none whose time is over")
  func overdue() async throws {
    let clock = ManualClock()
    try await Shard.make(.counters, clock: clock).run { shard in
      let listener = Listener()
      let handles = try (0..<300).map { _ in
        let participant = listener.join(on: shard)
        defer { participant.session.leave(participant, isolation: shard) }
        return try participant.session.open(
          for: participant, named: nil, identity: nil, isolation: shard)
      }
      clock.advance(to: clock.now.advanced(by: .seconds(120)))
      let other = listener.join(on: shard)
      let request = AttachRequest(handle: handles[250].description)
      #expect(shard.refusal(request, from: other) == "expired session")
      #expect(shard.directory.count == 199)
      shard.sweepSessions()
      #expect(shard.directory.count == 0)
    }
  }

  @Test("each session expires at its own deadline, however often a client has returned to it")
  func deadlines() async throws {
    let clock = ManualClock()
    try await Shard.make(.counters, clock: clock).run { shard in
      let listener = Listener()
      var handles: [SessionHandle] = []
      for _ in 0..<300 {
        let participant = listener.join(on: shard)
        handles.append(
          try participant.session.open(
            for: participant, named: nil, identity: nil, isolation: shard))
        participant.session.leave(participant, isolation: shard)
        clock.advance(to: clock.now.advanced(by: .milliseconds(100)))
      }
      // After 30 seconds: a client returns to every third session, 20 times.
      for _ in 1...20 {
        for index in stride(from: 0, to: 300, by: 3) {
          let (participant, _) = try attach(
            listener, listener.join(on: shard), handles[index], [], on: shard)
          participant.session.leave(participant, isolation: shard)
        }
      }
      clock.advance(to: clock.now.advanced(by: .seconds(105)))
      // 135 seconds after the first session was opened: the sessions of the first 15 seconds have
      // expired.
      #expect(shard.alive(handles) == (0..<300).filter { $0 % 3 == 0 || $0 > 150 })
      clock.advance(to: clock.now.advanced(by: .milliseconds(14_999)))
      #expect(shard.alive(handles) == (0..<300).filter { $0 % 3 == 0 })
      clock.advance(to: clock.now.advanced(by: .milliseconds(1)))
      #expect(shard.alive(handles) == [])
      #expect(shard.directory.nextDeadline() == nil)
    }
  }

  @Test("another identity's handle is refused like an unknown one")
  func identities() async throws {
    try await Shard.make(.counters).run { shard in
      let listener = Listener()
      let participant = listener.join(on: shard)
      let handle = try participant.session.open(
        for: participant, named: nil, identity: "ann", isolation: shard)
      let other = listener.join(on: shard)
      for identity in ["bob", nil] {
        let request = AttachRequest(handle: handle.description, identity: identity)
        #expect(shard.refusal(request, from: other) == "unknown session")
      }
      participant.session.close(by: participant, isolation: shard)
      for (identity, expected) in [("bob", "unknown session"), ("ann", "expired session")] {
        let request = AttachRequest(handle: handle.description, identity: identity)
        #expect(shard.refusal(request, from: other) == expected)
      }
    }
  }

  @Test(
    "the limit of sessions applies to each identity, and an ended session no longer counts")
  func sessionsPerIdentity() async throws {
    var limits = SessionLimits()
    limits.sessionsPerIdentity = 2
    let (clock, time) = (ManualClock(), limits.timeToLive)
    try await Shard.make(.counters, limits: limits, clock: clock).run { shard in
      let listener = Listener()
      func open(_ identity: String?, _ shard: isolated Shard) throws(SessionError) -> Participant {
        let participant = listener.join(on: shard)
        _ = try participant.session.open(
          for: participant, named: nil, identity: identity, isolation: shard)
        return participant
      }
      let (first, second) = (try open("ann", shard), try open("ann", shard))
      #expect(throws: SessionError.self) { try open("ann", shard) }
      _ = try (open("bob", shard), open(nil, shard), open(nil, shard), open(nil, shard))
      // A second open of the same session does not count again.
      _ = try first.session.open(for: first, named: "page", identity: "ann", isolation: shard)
      first.session.close(by: first, isolation: shard)
      _ = try open("ann", shard)
      #expect(throws: SessionError.self) { try open("ann", shard) }
      second.session.leave(second, isolation: shard)
      #expect(throws: SessionError.self) { try open("ann", shard) }
      clock.advance(to: clock.now.advanced(by: time))
      _ = try open("ann", shard)
      #expect(shard.group.census.count(of: "ann") == 2 && shard.group.census.count(of: "bob") == 1)
    }
  }

  @Test("at the limit, an idle session of the identity with most sessions is removed")
  func evictionAtLimit() async throws {
    var limits = SessionLimits()
    limits.sessions = 10
    try await Shard.make(.counters, limits: limits).run { shard in
      let listener = Listener()
      func open(
        _ identity: String?, leaving: Bool, using: Bool = true, _ shard: isolated Shard
      ) throws -> SessionHandle {
        let participant = listener.join(on: shard)
        if using { try add(1, participant, shard) }
        let handle = try participant.session.open(
          for: participant, named: nil, identity: identity, isolation: shard)
        if leaving { participant.session.leave(participant, isolation: shard) }
        return handle
      }
      let bobs = try open("bob", leaving: true, shard)
      let first = try open("ann", leaving: true, shard)
      for _ in 1...8 { _ = try open("ann", leaving: true, shard) }
      // Ann has most sessions, so only her own sessions are removed, and the newest first.
      for _ in 1...20 { _ = try open("ann", leaving: true, shard) }
      _ = try open("carol", leaving: false, shard)
      #expect(shard.alive([bobs, first]) == [0, 1])
      #expect(shard.directory.count == 10 && shard.group.census.count(of: "carol") == 1)
      // A session without stores is removed first, however old it is.
      let empty = try open("ann", leaving: true, using: false, shard)
      let used = try open("ann", leaving: true, shard)
      #expect(shard.alive([empty, used]) == [1])
      // A session with a client is not removed. An identity with as many sessions as any other
      // displaces no further session.
      for _ in 1...4 { _ = try open("dora", leaving: false, shard) }
      #expect(shard.alive([bobs]) == [0])
      #expect(shard.group.census.count(of: "ann") == 4 && shard.group.census.count(of: "dora") == 4)
      #expect(throws: SessionError.self) { try open("dora", leaving: false, shard) }
    }
  }

  @Test("many ended sessions of one owner do not displace the handles of another owner")
  func endedHandles() async throws {
    try await Shard.make(.counters).run { shard in
      let listener = Listener()
      func end(_ identity: String?, _ shard: isolated Shard) throws -> SessionHandle {
        let participant = listener.join(on: shard)
        let handle = try participant.session.open(
          for: participant, named: nil, identity: identity, isolation: shard)
        participant.session.close(by: participant, isolation: shard)
        return handle
      }
      let (bobs, anns) = (try end("bob", shard), try end("ann", shard))
      for _ in 1...10_001 { _ = try end("ann", shard) }
      let other = listener.join(on: shard)
      func refusal(_ handle: SessionHandle, _ identity: String, _ shard: isolated Shard) -> String?
      {
        shard.refusal(AttachRequest(handle: handle.description, identity: identity), from: other)
      }
      #expect(refusal(bobs, "bob", shard) == "expired session")
      #expect(refusal(anns, "ann", shard) == "unknown session")
    }
  }

  @Test("a name without an accepted input becomes free when its client has left")
  func names() async throws {
    var limits = SessionLimits()
    limits.frontendNames = 2
    try await Shard.make(.counters, limits: limits).run { shard in
      let listener = Listener()
      let owner = listener.join(on: shard)
      let handle = try owner.session.open(
        for: owner, named: "owner", identity: nil, isolation: shard)
      for number in 1...10 {
        let (participant, _) = try shard.attach(
          AttachRequest(handle: handle.description, frontend: "visitor \(number)"),
          from: listener.join(on: shard))
        participant.session.leave(participant, isolation: shard)
      }
      #expect(owner.session.names.count == 1)
    }
  }

  @Test("each session gets a different handle, up to the limit of sessions")
  func handles() async throws {
    var limits = SessionLimits()
    limits.sessions = 100
    await Shard.make(.counters, limits: limits).run { shard in
      let listener = Listener()
      var handles: Set<SessionHandle> = []
      var participants: [Participant] = []
      for number in 1...101 {
        let participant = listener.join(on: shard)
        participants.append(participant)
        do throws(SessionError) {
          let handle = try participant.session.open(
            for: participant, named: nil, identity: nil, isolation: shard)
          #expect(SessionHandle(handle.description) == handle)
          #expect(handle.description.utf8.count == 32)
          handles.insert(handle)
        } catch {
          #expect(number == 101 && error.words == "limit sessions")
        }
      }
      #expect(handles.count == 100)
      for participant in participants { participant.session.leave(participant, isolation: shard) }
    }
  }
}

extension Shard {
  /// Returns the indices of the sessions that have not ended.
  fileprivate func alive(_ handles: [SessionHandle]) -> [Int] {
    expireSessions()
    return handles.indices.filter { directory[handles[$0]] != nil }
  }
}

/// Shows a word, or hides it.
private struct Secret: StateMachine {
  enum Input: Codable, Sendable { case show, hide }
  struct State: Codable, Sendable { var text = "" }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func reduce(_ state: inout State, _ action: Input) {
    state.text = action == .show ? "swordfish" : ""
  }
  func isRedaction(_ action: Input) -> Bool { action == .hide }
}
