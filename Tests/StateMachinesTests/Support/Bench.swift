// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

/// A store on its own actor, with a manual clock and a record of its publications.
actor Bench<Machine: StateMachine>: StoreHost {
  nonisolated let clock = ManualClock()
  /// The faults to inject into the operations of the store.
  nonisolated let faults = Faults()
  /// The counts of the effects of the store.
  nonisolated let effects = EffectCounts()
  /// `"0 1 [patch]"` for every publication, in order.
  nonisolated let publications = Record<String>()
  /// Notes of the test, in order.
  nonisolated let notes = Record<String>()
  private let revisions: Watched<Revision>
  private var open: Store<Machine>?

  /// Opens the store and adds a listener that records its publications.
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
      environment: StoreEnvironment(clock: clock, faults: faults, effects: effects), hooks: hooks,
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
    guard let open else { fatalError("the test has released its store") }
    return open
  }

  func deliver(_ message: EffectMessage) { open?.receive(message) }

  /// Releases the store.
  func drop() { open = nil }

  /// Calls `body` with the store, on the actor of the store.
  func `do`<Result: Sendable>(
    _ body: @Sendable (isolated Bench, Store<Machine>) throws -> Result
  ) rethrows -> Result {
    try body(self, store)
  }

  /// Sends an input and adds a note when it is settled.
  @discardableResult
  func send(_ input: Machine.Input, noting name: String? = nil) throws -> SendResult? {
    let result = try store.send(input)
    if let result, let name {
      store.whenSettled(result.inputID) { [notes] completion in
        let closed = completion.wasClosed ? ", closed" : ""
        notes.add("\(name) settled at \(completion.revision)\(closed)")
      }
    }
    return result
  }

  /// Waits until `sleepers` tasks sleep on the clock, and then advances it.
  func advance(by seconds: Int, sleepers: Int) async {
    await eventually("\(sleepers) sleepers") { clock.sleeperCount == sleepers }
    clock.advance(to: clock.now.advanced(by: .seconds(seconds)))
  }

  /// Waits until the store has reached a revision and the test has a number of notes.
  nonisolated func reaches(
    revision: Revision = 0, notes: Int = 0, at location: SourceLocation = #_sourceLocation
  ) async {
    do {
      try await revisions.until { $0 >= revision }
      try await self.notes.reaches(notes)
    } catch {
      Issue.record(
        "the store did not reach revision \(revision) and \(notes) notes", sourceLocation: location)
    }
    await finishTurn()
  }

  /// Returns after the turn of the last event has ended.
  private func finishTurn() {}

  static func text(of publication: borrowing Publication) -> String {
    let base = publication.base.map { "\($0) " } ?? ""
    var state = JSONWriter()
    publication.writeState(to: &state)
    let patch = publication.patch.map { String(decoding: $0, as: UTF8.self) }
    return "\(base)\(publication.revision) \(patch ?? state.string())"
  }
}
