// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StateMachines
import StatewireProtocol
import Testing

@testable import Sessions

extension Shard {
  /// Returns a journaling shard under test, on its own queue, with a clock that only the test
  /// advances.
  static func journaled(
    _ journal: MemoryJournal, _ bank: Bank = Bank(), limits: SessionLimits = .init()
  ) -> Shard {
    journaled(journal, kinds: .durable(bank), limits: limits)
  }

  /// Returns such a shard with other kinds.
  static func journaled(
    _ journal: MemoryJournal, kinds: [StoreKind], limits: SessionLimits = .init()
  ) -> Shard {
    let queue = DispatchQueue(label: "shard")
    let rest = IdleTracker(
      checkThread: { dispatchPrecondition(condition: .onQueue(queue)) },
      execute: { body in queue.async(execute: body) })
    return Shard(testing: rest, kinds: kinds, limits: limits, journal: journal)
  }

  /// Advances the clock, and returns when the shard is idle.
  func pass(seconds: Int) async {
    await withCheckedContinuation { continuation in
      turn { testing!.advance(by: .seconds(seconds)) { continuation.resume() } }
    }
  }

  /// Advances the clock without a turn.
  func advanceWithoutTurn(seconds: Int) {
    guard let clock = testing?.clock else { return }
    clock.advance(to: clock.now.advanced(by: .seconds(seconds)))
  }

  /// Restores all sessions, and checks that none is damaged.
  func restoreAll() throws {
    let damage = try restore()
    #expect(damage == [])
  }

  /// Attaches a client to a new session with a handle.
  func join(_ listener: Listener, named name: String? = nil) throws -> (Participant, SessionHandle)
  {
    let participant = listener.join(on: self)
    let handle = try turn {
      try participant.session.open(for: participant, named: name, identity: nil, isolation: self)
    }
    return (participant, handle)
  }

  /// Attaches a new client, and returns the content for each store as text.
  func resume(
    _ handle: SessionHandle, named name: String? = nil, notifying listener: Listener,
    _ revisions: [(store: String, revision: Int?)] = []
  ) throws -> (participant: Participant, outcomes: [String], sequence: Int?) {
    try turn {
      let (participant, resumption) = try attach(
        AttachRequest(handle: handle.description, frontend: name, revisions: revisions),
        from: listener.join(on: self))
      let outcomes = resumption.stores.map { store in
        switch store.outcome {
        case .replayed(let count, _): "replayed \(count)"
        case .snapshot(let reason, let subscription):
          "\(store.cause.map { "\($0)" } ?? "\(reason)") \(subscription.revision) \(subscription.stateText)"
        case .closed: "closed"
        }
      }
      return (listener.join(participant), outcomes, resumption.sequence)
    }
  }

  /// Runs the body in the current turn if there is one, otherwise in a new turn.
  func inTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
    turnOutcome.stage == .turn ? try body() : try turn(body)
  }

  /// Sends an input, in the current turn if there is one, otherwise in a new turn.
  @discardableResult
  func send(
    _ input: String, _ participant: Participant, to store: String, sequence: Int? = nil
  ) throws -> SendResult? {
    try inTurn {
      let subscription = try participant.subscription(store, isolation: self)
      if let sequence, try participant.hasAccepted(sequence) { return nil }
      let receipt = try subscription.send(input)
      if let sequence, let receipt { participant.accepted(sequence, receipt, subscription) }
      return receipt
    }
  }

  /// Returns the reason why a new client may not attach. If it may, it leaves immediately, and the
  /// result is nil.
  func refusal(comingBackTo handle: SessionHandle) -> String? {
    let listener = Listener()
    defer { withExtendedLifetime(listener) {} }
    do throws(SessionError) {
      let newcomer = listener.join(on: self)
      let (participant, _) = try attach(AttachRequest(handle: handle.description), from: newcomer)
      participant.session.leave(participant, isolation: self)
      return nil
    } catch {
      return error.words
    }
  }
}
