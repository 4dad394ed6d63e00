// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

/// A store on an actor of its own, with a clock that stands still and a record of what it publishes.
actor Bench<Machine: StateMachine>: StoreHost {
  nonisolated let clock = ManualClock()
  /// What the operations of the store meet.
  nonisolated let faults = Faults()
  /// `"0 1 [patch]"` for every publication, in order.
  nonisolated let publications = Record<String>()
  /// What the test notes on the way.
  nonisolated let notes = Record<String>()
  private let revisions: Watched<Revision>
  private var open: Store<Machine>?

  /// Opens the store, which is listened to from the start.
  init(
    _ machine: Machine, hooks: [Hook<Machine>] = [], revision: Revision = 0
  ) async throws {
    revisions = Watched(revision)
    try start(machine, hooks, revision)
  }

  private func start(
    _ machine: Machine, _ hooks: [Hook<Machine>], _ revision: Revision
  ) throws {
    let store = try Store(
      machine, number: StoreNumber(7), host: self,
      environment: StoreEnvironment(clock: clock, faults: faults), hooks: hooks,
      revision: revision)
    open = store
    _ = store.listen { [publications, revisions] publication in
      publications.add(Self.text(of: publication))
      let revision = publication.revision
      revisions.withLock { $0 = revision }
    }
  }

  nonisolated var published: [String] { publications.all }

  var store: Store<Machine> {
    guard let open else { fatalError("the test has dropped its store") }
    return open
  }

  func deliver(_ message: EffectMessage) { open?.receive(message) }

  /// Lets go of the store.
  func drop() { open = nil }

  /// Does something where the store is.
  func `do`<Result: Sendable>(
    _ body: @Sendable (isolated Bench, Store<Machine>) throws -> Result
  ) rethrows -> Result {
    try body(self, store)
  }

  /// Sends an input and notes when it has settled.
  @discardableResult
  func send(_ input: Machine.Input, noting name: String? = nil) throws -> SendResult? {
    let receipt = try store.send(input)
    if let receipt, let name {
      store.whenSettled(receipt.inputID) { [notes] settlement in
        let closed = settlement.wasClosed ? ", closed" : ""
        notes.add("\(name) settled at \(settlement.revision)\(closed)")
      }
    }
    return receipt
  }

  /// Moves the clock once `sleepers` wait on it.
  func advance(by seconds: Int, sleepers: Int) async {
    await eventually("\(sleepers) sleepers") { clock.sleeperCount == sleepers }
    clock.advance(to: clock.now.advanced(by: .seconds(seconds)))
  }

  /// Waits until the store is at a revision and the test has made a number of notes.
  nonisolated func reaches(
    revision: Revision = 0, notes: Int = 0, at location: SourceLocation = #_sourceLocation
  ) async {
    do {
      try await revisions.until { $0 >= revision }
      try await self.notes.reaches(notes)
    } catch {
      Issue.record("never at revision \(revision), notes \(notes)", sourceLocation: location)
    }
    await finishTurn()
  }

  /// Returns when the turn is over in which the last event came.
  private func finishTurn() {}

  static func text(of publication: borrowing Publication) -> String {
    let base = publication.base.map { "\($0) " } ?? ""
    var state = JSONWriter()
    publication.writeState(to: &state)
    let patch = publication.patch.map { String(decoding: $0, as: UTF8.self) }
    return "\(base)\(publication.revision) \(patch ?? state.string())"
  }
}
