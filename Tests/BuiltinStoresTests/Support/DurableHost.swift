// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import TestSupport
import Testing

/// An actor with one store that is recorded, so that another store can continue from it.
actor DurableHost<Machine: DurableMachine>: StoreHost {
  nonisolated let clock: ManualClock
  private let machine: Machine
  private let notes = Notes()
  private var open: Store<Machine>?

  init(_ machine: Machine, at start: Duration = .seconds(1000)) async throws {
    self.machine = machine
    clock = ManualClock(start: start)
    try begin(nil)
  }

  /// Creates a host whose store continues from a recorded one after a pause.
  init(_ machine: Machine, after written: Written, for pause: Duration) async throws {
    self.machine = machine
    clock = ManualClock(start: written.time + pause)
    try begin(written)
  }

  private func begin(_ written: Written?) throws {
    let environment = StoreEnvironment(clock: clock)
    guard let written else {
      let store = try Store(
        machine, number: StoreNumber(1), host: self, environment: environment)
      open = store
      guard store.prepareRecord(scope: "test", epoch: 1) else { return }
      return store.record(by: notes)
    }
    let store = try Store(
      restoring: machine, number: StoreNumber(1), host: self, environment: environment,
      revision: written.revision, lastOperation: written.lastOperation, state: written.state)
    open = store
    guard store.prepareRecord(scope: "test", epoch: 1) else { return }
    store.record(by: notes)
    for (operation, input) in written.accepted { notes.accepted[operation] = input }
    let accepted = written.accepted.map { operation, input in
      AcceptedInput(
        operation: operation, epoch: 1, input: input.text, age: clock.sinceEpoch - input.time)
    }
    store.resume(areSomeLost: written.lacksInputs)
    for accepted in accepted { try store.restart(accepted) }
  }

  func deliver(_ message: EffectMessage) { open?.receive(message) }

  func send(_ input: Machine.Input) throws {
    _ = try open?.send(input)
  }

  var state: Machine.State? { open?.state }
  var view: Machine.ViewState? { open.map { machine.view(of: $0.state) } }

  func satisfies(_ condition: @Sendable (Machine.State) -> Bool) -> Bool {
    open.map { condition($0.state) } ?? false
  }

  /// Waits until the state fulfils a condition.
  nonisolated func until(_ condition: @Sendable (Machine.State) -> Bool) async {
    await eventually("the state fulfils the condition") { await satisfies(condition) }
  }

  nonisolated func wait(sleepers count: Int) async {
    await eventually("\(count) sleepers") { clock.sleeperCount == count }
  }

  /// Stops the store as a kill of the process does, and returns the recorded data.
  func kill() -> Written? {
    guard let open else { return nil }
    self.open = nil
    return Written(
      state: notes.state, revision: open.revision, lastOperation: open.lastOperation,
      accepted: notes.accepted.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
      time: clock.sinceEpoch)
  }
}

/// The recorded data of a store.
struct Written: Sendable {
  struct Input: Sendable {
    let text: [UInt8]
    let time: Duration
  }

  let state: JSONValue
  let revision: Revision
  let lastOperation: UInt64
  var accepted: [(operation: UInt64, input: Input)]
  /// True if some accepted inputs are missing.
  var lacksInputs = false
  let time: Duration
}

private final class Notes: StoreRecorder {
  var state = JSONValue.null
  var accepted: [UInt64: Written.Input] = [:]

  func stateChanged(_ state: JSONEncodedState, revision: Revision) {
    guard let state = try? JSONValue(parsing: state.wholeText) else { return }
    self.state = state
  }

  func folded(_ patch: UnsafeRawBufferPointer, revision: Revision) -> Bool {
    guard let patch = try? JSONPatch(JSONValue(parsing: patch)),
      let next = try? patch.apply(to: state)
    else { return true }
    state = next
    return false
  }

  func accepted(_ input: [UInt8], operation: UInt64, epoch: UInt64, at time: Duration) {
    accepted[operation] = Written.Input(text: input, time: time)
  }

  func settled(operation: UInt64) { accepted[operation] = nil }
}
