// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StateMachines
import StatewireProtocol
import Testing

@testable import Sessions

extension Shard {
  /// A shard that writes down, on a loop of its own where nothing happens by chance.
  static func journalled(
    _ journal: MemoryJournal, _ bank: Bank = Bank(), limits: SessionLimits = .init()
  ) -> Shard {
    let queue = DispatchQueue(label: "shard")
    let rest = Quiescence(
      checkThread: { dispatchPrecondition(condition: .onQueue(queue)) },
      execute: { body in queue.async(execute: body) })
    return Shard(testing: rest, kinds: .durable(bank), limits: limits, journal: journal)
  }

  /// Moves the clock, and returns when all work rests.
  func pass(seconds: Int) async {
    await withCheckedContinuation { continuation in
      turn { testing!.advance(by: .seconds(seconds)) { continuation.resume() } }
    }
  }

  /// Moves the clock, and nothing else: there is no turn.
  func passQuietly(seconds: Int) {
    guard let clock = testing?.clock else { return }
    clock.advance(to: clock.now.advanced(by: .seconds(seconds)))
  }

  /// Restores everything, without damage.
  func restoreAll() throws {
    let damage = try restore()
    #expect(damage == [])
  }

  /// A frontend in a session with a handle.
  func sit(_ listener: Listener, named name: String? = nil) throws -> (Member, SessionHandle) {
    let member = listener.sit(on: self)
    let handle = try turn {
      try member.session.open(for: member, named: name, identity: nil, isolation: self)
    }
    return (member, handle)
  }

  /// Attaches a new frontend; what each store answers, in words.
  func resume(
    _ handle: SessionHandle, named name: String? = nil, telling listener: Listener,
    _ revisions: [(store: String, revision: Int?)] = []
  ) throws -> (member: Member, answers: [String], sequence: Int?) {
    try turn {
      let (member, resumption) = try attach(
        AttachRequest(handle: handle.description, frontend: name, revisions: revisions),
        from: listener.sit(on: self))
      let answers = resumption.stores.map { store in
        switch store.answer {
        case .replayed(let count, _): "replayed \(count)"
        case .snapshot(let reason, let attachment):
          "\(reason) \(attachment.revision) \(attachment.stateText)"
        case .closed: "closed"
        }
      }
      return (listener.sit(member), answers, resumption.sequence)
    }
  }

  /// Does something in the turn in hand, or in one of its own.
  func inTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
    turnEnd.isInTurn ? try body() : try turn(body)
  }

  /// Sends an input, in a turn of its own unless there is one.
  @discardableResult
  func send(
    _ input: String, _ member: Member, to store: String, sequence: Int? = nil
  ) throws -> Receipt? {
    try inTurn {
      let attachment = try member.attachment(store, isolation: self)
      if let sequence, try member.hasAccepted(sequence) { return nil }
      let receipt = try attachment.send(input)
      if let sequence, let receipt { member.accepted(sequence, receipt, attachment) }
      return receipt
    }
  }

  /// Why a new frontend may not attach, which leaves at once if it may.
  func refusal(comingBackTo handle: SessionHandle) -> String? {
    let listener = Listener()
    defer { withExtendedLifetime(listener) {} }
    do throws(SessionError) {
      let member = listener.sit(on: self)
      let (seat, _) = try attach(AttachRequest(handle: handle.description), from: member)
      seat.session.leave(seat, isolation: self)
      return nil
    } catch {
      return error.words
    }
  }
}
