// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Sessions

@Suite("Recordings for the console", .timeLimit(.minutes(15)))
struct RecordingTests {
  /// Runs `body` with a session of one client, whose store `counter` is recorded.
  private func recorded(
    limits: SessionLimits = .init(),
    _ body: @Sendable (isolated Shard, Session, SessionRecording, Subscription) throws -> Void
  ) async throws {
    try await Shard.make(.counters, limits: limits).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let subscription = try session.attach(listener.id(on: shard), to: "counter", isolation: shard)
      shard.record(session, at: .now)
      try body(shard, session, try #require(session.recording), subscription)
      withExtendedLifetime(listener) {}
    }
  }

  @Test("inputs, actions, updates and ends are recorded in their order")
  func order() async throws {
    try await recorded { shard, session, recording, subscription in
      try subscription.send(#"{"type":"add","amount":3}"#)
      let events = recording.events(after: 0, limit: 100, at: .now).filter { $0.line != "2 state" }
      #expect(
        events.map(\.line) == [
          "1 opened {} 0", "3 input add {\"type\":\"add\",\"amount\":3}",
          "4 action Int", "5 update 0 1 [{\"op\":\"replace\",\"path\":\"/count\",\"value\":3}]",
          "6 end input",
        ])
      #expect(recording.events(after: 4, limit: 1, at: .now).map(\.number) == [5])
      #expect(recording.events(after: 6, limit: 1, at: .now).isEmpty)
      try session.close("counter", isolation: shard)
      #expect(recording.events(after: 6, limit: 9, at: .now).last?.line.hasSuffix("closed") == true)
    }
  }

  @Test("an input that is refused is recorded, and the client gets the same error as without it")
  func refused() async throws {
    try await recorded { _, _, recording, subscription in
      let input = #"{"type":"none"}"#
      #expect(throws: (any Error).self) { try subscription.send(input) }
      #expect(recording.events(after: 2, limit: 9, at: .now).map(\.line) == ["3 refused \(input)"])
    }
  }

  @Test("an earlier state is the state of its revision")
  func earlierStates() async throws {
    try await recorded { _, _, recording, subscription in
      for amount in 1...9 { try subscription.send(#"{"type":"add","amount":\#(amount)}"#) }
      for revision in 0...9 {
        let sum = revision * (revision + 1) / 2
        #expect(
          try recording.value(of: "counter", at: revision) == [
            "count": .number(JSONNumber(Int64(sum)))
          ])
      }
      #expect(recording.state(of: "counter", at: 10) == nil)
      #expect(recording.state(of: "other", at: 1) == nil)
    }
  }

  @Test("a million events need bounded memory, and the last states can be computed")
  func bounds() async throws {
    try await recorded { _, _, recording, subscription in
      for _ in 0..<250_000 { try subscription.send(#"{"type":"add","amount":1}"#) }
      #expect(recording.last > 1_000_000)
      #expect(recording.count <= SessionRecording.maximumEvents)
      #expect(recording.byteCount <= SessionRecording.maximumBytes)
      #expect(recording.events(after: 0, limit: 1, at: .now).map(\.number) == [recording.first])
      #expect(recording.state(of: "counter", at: 1) == nil)
      for revision in [248_000, 249_999, 250_000] {
        #expect(
          try recording.value(of: "counter", at: revision)
            == ["count": .number(JSONNumber(Int64(revision)))])
      }
    }
  }

  @Test("a recording that is not read ends, and leaves nothing in the stores")
  func ends() async throws {
    try await recorded { shard, session, recording, subscription in
      let start = recording.lastRead
      shard.endRecordings(at: start + .seconds(15))
      #expect(session.recording === recording)
      _ = recording.events(after: 0, limit: 1, at: start + .seconds(10))
      shard.endRecordings(at: start + .seconds(25))
      #expect(session.recording === recording)
      shard.endRecordings(at: start + .seconds(26))
      #expect(session.recording == nil)
      let last = recording.last
      try subscription.send(#"{"type":"add","amount":3}"#)
      #expect(recording.last == last)
      #expect(recording.sends.isEmpty)
    }
  }

  @Test("a shard records a bounded number of sessions; the one that was read first ends")
  func manySessions() async {
    await Shard.make(.counters).run { shard in
      let start = ContinuousClock.now
      let sessions = (0...Shard.maximumRecordings).map { _ in Session(isolation: shard) }
      for (index, session) in sessions.enumerated() {
        shard.record(session, at: start + .milliseconds(index))
      }
      #expect(sessions.map { $0.recording != nil } == [false] + Array(repeating: true, count: 16))
    }
  }

  @Test("a client's trace and a recording do not disturb each other")
  func traces() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let id = listener.id(on: shard)
      let subscription = try session.attach(id, to: "counter", isolation: shard)
      session.trace(id)
      shard.record(session, at: .now)
      let recording = try #require(session.recording)
      try subscription.send(#"{"type":"add","amount":3}"#)
      let traced = listener.traced.count
      #expect(traced > 0)
      session.trace(nil)
      try subscription.send(#"{"type":"add","amount":3}"#)
      #expect(listener.traced.count == traced)
      #expect(
        recording.events(after: 0, limit: 99, at: .now).filter { $0.line.contains(" input add") }
          .count == 2)
    }
  }

  @Test("an operator's input, closing, eviction and end reach the session")
  func operating() async throws {
    try await Shard.make(.counters).run { shard in
      let session = Session(isolation: shard)
      let listener = Listener()
      let participant = Participant(listener.id(on: shard), alone: session)
      let handle = try session.open(for: participant, named: "a", identity: nil, isolation: shard)
      let subscription = try participant.subscription("counter", isolation: shard)
      subscription.subscribe(.patch)
      let clients = shard.clients.count
      let input = Array(#"{"type":"add","amount":3}"#.utf8)
      #expect(try session.operate(sending: input, to: "counter", isolation: shard) == 1)
      #expect(throws: SessionError.self) {
        try session.operate(sending: Array("{}".utf8), to: "counter", isolation: shard)
      }
      #expect(throws: SessionError.self) {
        try session.operate(sending: input, to: "from", isolation: shard)
      }
      #expect(shard.clients.count == clients)
      #expect(subscription.stateText == #"{"count":3}"#)
      let isEvicted = session.evictByOperator(participant.client, isolation: shard)
      let isEvictedAgain = session.evictByOperator(participant.client, isolation: shard)
      #expect(isEvicted && !isEvictedAgain)
      #expect(session.summary(isolation: shard).participantCount == 0)
      session.endByOperator(isolation: shard)
      #expect(session.isEnded)
      #expect(shard.session(.handle(handle)) == nil)
      #expect(listener.take().contains { $0.contains("evicted") })
    }
  }
}

extension SessionRecording {
  /// Returns a recorded state.
  fileprivate func value(of store: String, at revision: Revision) throws -> JSONValue {
    let earlier = try #require(state(of: store, at: revision))
    var writer = JSONWriter()
    earlier.state.write(to: &writer)
    var value = try JSONValue(parsing: writer.bytes())
    for patch in earlier.patches {
      value = try JSONPatch(JSONValue(parsing: patch)).apply(to: value)
    }
    return value
  }
}

extension RecordedEvent {
  /// The event as one line.
  fileprivate var line: String {
    func text(_ bytes: [UInt8]?) -> String {
      bytes.map { String(decoding: $0, as: UTF8.self) } ?? "-"
    }
    let content =
      switch content {
      case .opened(let configuration, let revision): "opened \(text(configuration)) \(revision)"
      case .closed: "closed"
      case .input(let record, let input, _): "input \(record.input ?? "-") \(text(input))"
      case .refused(let input, _): "refused \(text(input))"
      case .traced(let record):
        switch record.moment {
        case .receiveOutput: "action \(record.action ?? "-")"
        default: "end \(record.operation.name)"
        }
      case .updated(let base, let revision, let patch, _):
        "update \(base) \(revision) \(text(patch))"
      case .happened(let event): "event \(text(event))"
      case .state: "state"
      }
    return "\(number) \(content)"
  }
}
