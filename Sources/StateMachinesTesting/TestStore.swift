// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// A driver that runs a state machine step by step and checks each step.
///
/// - `send` sends an input; its immediate actions are folded.
/// - `receive` folds the next action that running work has sent.
/// - `finish` checks that no action was missed and that no work still runs.
///
/// Each takes a closure that makes the expected change of the state. Any other change is a failure,
/// and so is an expected change that does not happen. A store that is not exhaustive checks less:
/// an expected change must have happened, other changes may have happened, and actions that are not
/// expected are folded. Failures are thrown, so any test framework can be used.
///
/// Work runs only while one of these calls waits, one job at a time and in a fixed order, so a test
/// gives the same result each time.
///
/// States are compared by their view states, by their JSON if they are `Encodable`, and by `==` if
/// they are `Equatable`. If a state is neither, the parts that the view state does not show are not
/// compared.
///
/// ```swift
/// let store = TestStore(Stopwatch())
/// try await store.send(.startTapped) { $0.isRunning = true }
/// try await store.advance(by: .seconds(1))
/// try await store.receive { $0.seconds = 1 }
/// try await store.send(.stopTapped) { $0.isRunning = false }
/// try await store.finish()
/// ```
public actor TestStore<Machine: StateMachine>: StoreHost {
  private let machine: Machine
  private let isExhaustive: Bool
  private let clock: ManualClock
  private let patience: Duration
  private let work = WorkQueue()
  private let faults = Faults()
  private var script: Store<Machine>?

  // Work that runs this many jobs without waiting for the clock is treated as an endless loop.
  private static var maximumJobs: Int { 100_000 }

  /// Creates a test store.
  ///
  /// - Parameters:
  ///   - machine: The machine to test.
  ///   - exhaustive: True if each action and event must be received, and all work must end.
  ///   - clock: The clock that effects wait on; see `advance`.
  ///   - patience: The longest wait, in real time, for work that waits neither on this clock nor on
  ///     other work. No passing test waits this long.
  public init(
    _ machine: Machine, exhaustive: Bool = true, clock: ManualClock = ManualClock(),
    patience: Duration = .seconds(2)
  ) {
    self.machine = machine
    isExhaustive = exhaustive
    self.clock = clock
    self.patience = patience
  }

  /// The current state.
  public var state: Machine.State { scripted.state }

  /// Sends an input and folds its immediate actions.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - change: Changes the previous state to the expected one.
  /// - Throws: `TestFailure` if the state differs from the expected one, or if an earlier action
  ///   has not been received.
  public func send(
    _ input: Machine.Input, _ change: (inout Machine.State) -> Void = { _ in }
  ) async throws {
    try await rest()
    try refuseUnreceived(before: "sending \(input)")
    let before = state
    do {
      try scripted.send(input)
    } catch {
      throw TestFailure("the input \(input) was sent after the store was closed")
    }
    try compare(before, change, after: "the input \(input)")
  }

  /// Waits for the next action that running work sends, whatever it is, and folds it.
  ///
  /// - Parameter change: Changes the previous state to the expected one.
  /// - Throws: `TestFailure` if no action comes, or the state differs from the expected one.
  public func receive(_ change: (inout Machine.State) -> Void = { _ in }) async throws {
    try await receive(where: { _ in true }, change)
  }

  /// Waits for the next action that running work sends, and folds it.
  ///
  /// - Parameters:
  ///   - isExpected: Returns true for the expected action.
  ///   - change: Changes the previous state to the expected one.
  /// - Throws: `TestFailure` if no action or another action comes, or the state differs from the
  ///   expected one.
  public func receive(
    where isExpected: (Machine.Action) -> Bool,
    _ change: (inout Machine.State) -> Void = { _ in }
  ) async throws {
    while try await waits(atMost: patience, until: { $0.held?.isEmpty == false }),
      let action = scripted.held?.first
    {
      let before = state
      if isExpected(action) {
        scripted.foldHeld()
        return try compare(before, change, after: "the action \(action)")
      }
      guard !isExhaustive else {
        throw TestFailure("the action \(action) is not the expected one")
      }
      scripted.foldHeld()
    }
    throw TestFailure("expected an action, but none came")
  }

  /// Advances the clock and wakes sleepers in the order of their deadlines; before each, all work
  /// runs until it is idle.
  ///
  /// - Throws: `TestFailure` if work runs without end and never waits.
  public func advance(by duration: Duration) async throws {
    let end = clock.now.advanced(by: duration)
    try await rest()
    // One sleep at a time, as on a server with `--test`.
    while clock.wakeFirst(notAfter: end) { try await rest() }
    clock.advance(to: end)
    try await rest()
  }

  /// Checks that no action was missed and no work runs, except feeds, and then cancels the feeds.
  ///
  /// - Throws: `TestFailure` with an action that was not received, or work that still runs.
  public func finish() async throws {
    do {
      let isOver = try await waits(atMost: isExhaustive ? patience : .zero) {
        $0.runningNames.isEmpty || $0.held?.isEmpty == false
      }
      let running = scripted.runningNames
      try refuseUnreceived(before: "the end")
      guard isOver || !isExhaustive else {
        throw TestFailure("still running at the end: \(running.joined(separator: ", "))")
      }
    } catch {
      await cancelAll()
      throw error
    }
    await cancelAll()
  }

  /// Cancels all running work, ignores the actions that it has sent, and lets it end.
  public func cancelAll() async {
    scripted.close()
    try? await rest()
  }

  /// Passes a message from running work to the store.
  public func deliver(_ message: EffectMessage) { scripted.receive(message) }

  private var scripted: Store<Machine> {
    if let script { return script }
    do throws(JSONError) {
      let script = try Store(
        scripted: machine, host: self,
        environment: StoreEnvironment(clock: clock, executor: work, faults: faults))
      self.script = script
      return script
    } catch {
      // A mistake in the tested machine. `state` needs the store and cannot throw.
      fatalError("cannot encode the initial view state of \(Machine.self): \(error)")
    }
  }
}

extension TestStore where Machine.Event: Equatable {
  /// Takes the oldest event, which must be equal to the expected one.
  ///
  /// - Throws: `TestFailure` if there is no event, or another one.
  public func receive(event expected: Machine.Event) async throws {
    try await rest()
    guard let event = scripted.heldEvents?.first else {
      throw TestFailure("expected the event \(expected), but none came")
    }
    guard event == expected else {
      throw TestFailure("expected the event \(expected), but \(event) came")
    }
    scripted.heldEvents?.removeFirst()
  }
}

extension TestStore {
  /// Injects a fault into the next calls of an operation.
  ///
  /// - Parameters:
  ///   - fault: The fault.
  ///   - operation: The name of the operation.
  ///   - times: The number of calls.
  public func inject(_ fault: Fault, into operation: String, times: Int = 1) {
    faults.inject(fault, into: operation, times: times)
  }
}

extension TestStore where Machine.Action: Equatable {
  /// Waits for the next action that running work sends, which must be equal to the expected one,
  /// and folds it.
  ///
  /// - Parameters:
  ///   - expected: The expected action.
  ///   - change: Changes the previous state to the expected one.
  /// - Throws: `TestFailure` if no action or another action comes, or the state differs from the
  ///   expected one.
  public func receive(
    _ expected: Machine.Action, _ change: (inout Machine.State) -> Void = { _ in }
  ) async throws {
    try await receive(where: { $0 == expected }, change)
  }
}

// MARK: - Comparing

extension TestStore {
  /// Throws if an action or event has not been received. Folds the actions if the store is not
  /// exhaustive.
  private func refuseUnreceived(before step: String) throws {
    while let action = scripted.held?.first {
      guard !isExhaustive else {
        throw TestFailure("the action \(action) was not received before \(step)")
      }
      scripted.foldHeld()
    }
    if isExhaustive, let event = scripted.heldEvents?.first {
      throw TestFailure("the event \(event) was not received before \(step)")
    }
  }

  private func compare(
    _ before: Machine.State, _ change: (inout Machine.State) -> Void, after step: String
  ) throws {
    // If other changes may have happened, the expected change must have no effect on the current
    // state.
    var expected = isExhaustive ? before : state
    change(&expected)
    if let difference = difference(from: expected) {
      throw TestFailure(
        "after \(step) the state differs from the expected state by \(difference)")
    }
  }

  private func difference(from expected: Machine.State) -> String? {
    if let patch = patch(machine.view(of: expected), machine.view(of: state)) { return patch }
    if let patch = patch(expected, state) { return patch }
    guard let expected = expected as? any Equatable, !isEqual(expected) else { return nil }
    return "\(state) instead of \(expected)"
  }

  private func isEqual<Expected: Equatable>(_ expected: Expected) -> Bool {
    expected == state as? Expected
  }

  /// Returns the patch between two values; nil if they are equal or cannot be encoded as JSON.
  private func patch(_ expected: Any, _ actual: Any) -> String? {
    guard let expected = expected as? any Encodable, let actual = actual as? any Encodable,
      let before = try? JSON.value(expected), let after = try? JSON.value(actual)
    else { return nil }
    let patch = JSONPatch.difference(from: before, to: after)
    return patch.isEmpty ? nil : String(decoding: patch.value.jsonBytes(), as: UTF8.self)
  }
}

// MARK: - Waiting

extension TestStore {
  /// Runs work until all of it waits for the clock or for an external event.
  private func rest() async throws {
    var jobs = 0
    while true {
      jobs += work.run()
      // A message from work is first in this actor's queue, and then in the queue of the work.
      await Task.yield()
      if work.isEmpty { return }
      guard jobs < Self.maximumJobs else {
        throw TestFailure("never idle: \(scripted.runningNames.joined(separator: ", "))")
      }
    }
  }

  /// Waits until a condition is true when all work is idle; also waits for external events.
  ///
  /// - Returns: False if the condition was not true within the time, or no work runs.
  private func waits(
    atMost patience: Duration, until condition: (Store<Machine>) -> Bool
  ) async throws -> Bool {
    let deadline = ContinuousClock.now + patience
    while true {
      try await rest()
      if condition(scripted) { return true }
      if scripted.isIdle || ContinuousClock.now >= deadline { return false }
    }
  }
}

/// A failed check of a test store.
public struct TestFailure: Error, CustomStringConvertible, Equatable {
  /// The failure in words for people.
  public let description: String
  init(_ description: String) { self.description = description }
}
