// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// Runs a state machine step by step and insists that every step is named.
///
/// - `send` gives it an input; its immediate actions are folded.
/// - `receive` folds the next action that running work has sent.
/// - `finish` makes sure that nothing is left: no action unseen, no work running.
///
/// Each takes a closure that says how the state changes; whatever else changes is a failure, and so
/// is an expected change that does not happen. A store that is not exhaustive checks only what it
/// is asked about. Failures are thrown, so any test framework will do.
///
/// ```swift
/// let store = try TestStore(Stopwatch())
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
  // How long to wait for work that is neither done nor asleep; nothing waits this long in a test
  // that passes.
  private let patience: Duration
  private var script: ScriptedStore<Machine>?

  /// - Parameters:
  ///   - machine: What to test.
  ///   - exhaustive: Whether everything that happens must be named.
  ///   - clock: The time that effects wait on; see `advance`.
  ///   - patience: How long to wait, in real time, for an action that does not come.
  public init(
    _ machine: Machine, exhaustive: Bool = true, clock: ManualClock = ManualClock(),
    patience: Duration = .seconds(2)
  ) {
    self.machine = machine
    isExhaustive = exhaustive
    self.clock = clock
    self.patience = patience
  }

  /// The state as it is now.
  public var state: Machine.State { scripted.state }

  /// Gives the machine an input and folds its immediate actions.
  ///
  /// - Parameter change: Turns the state before into the state that is expected.
  /// - Throws: `TestFailure` if the state is another one, or if an action that came before has not
  ///   been received.
  public func send(
    _ input: Machine.Input, _ change: (inout Machine.State) -> Void = { _ in }
  ) throws {
    try refuseUnseen(before: "sending \(input)")
    var expected = state
    change(&expected)
    scripted.send(input)
    try compare(state, with: expected, after: "the input \(input)")
  }

  /// Waits for the next action that running work sends, and folds it.
  ///
  /// - Parameters:
  ///   - isExpected: Whether it is the action that should come; any by default.
  ///   - change: Turns the state before into the state that is expected.
  /// - Throws: `TestFailure` if no action comes, another one, or the state is another one.
  public func receive(
    where isExpected: (Machine.Action) -> Bool = { _ in true },
    _ change: (inout Machine.State) -> Void = { _ in }
  ) async throws {
    guard await waits(until: { $0.hasAction }), let action = scripted.nextAction() else {
      throw TestFailure("an action was expected and none came")
    }
    guard isExpected(action) else { throw TestFailure("another action was expected than \(action)") }
    var expected = state
    change(&expected)
    scripted.fold(action)
    try compare(state, with: expected, after: "the action \(action)")
  }

  /// Moves the clock, waking what is due in order, each after the work before it rests.
  public func advance(by duration: Duration) async throws {
    let end = clock.now.advanced(by: duration)
    repeat {
      try await rest()
      guard let next = clock.nextDeadline, next <= end else { break }
      clock.advance(to: next)
      // What was woken has not begun to run yet; it counts as running until it sleeps again.
    } while true
    clock.advance(to: end)
    try await rest()
  }

  /// Makes sure that nothing is left.
  /// - Throws: `TestFailure` naming an action that was not received, or work that still runs.
  public func finish() async throws {
    _ = await waits(until: { $0.running == 0 || $0.hasAction })
    try refuseUnseen(before: "the end")
    guard isExhaustive, scripted.running > 0 else { return scripted.close() }
    let names = scripted.runningNames
    scripted.close()
    throw TestFailure("still running at the end: \(names.joined(separator: ", "))")
  }

  /// Ends all running work without looking at it.
  public func cancelAll() { scripted.close() }

  public func deliver(_ message: EffectMessage) { scripted.receive(message) }

  private var scripted: ScriptedStore<Machine> {
    if let script { return script }
    let script = ScriptedStore(machine, host: self, clock: clock)
    self.script = script
    return script
  }

  private func refuseUnseen(before step: String) throws {
    guard isExhaustive else {
      while let action = scripted.nextAction() { scripted.fold(action) }
      return
    }
    if let action = scripted.nextAction() {
      throw TestFailure("the action \(action) was not received before \(step)")
    }
  }

  private func compare(
    _ actual: Machine.State, with expected: Machine.State, after step: String
  ) throws {
    guard isExhaustive else { return }
    if let difference = difference(machine.view(of: expected), machine.view(of: actual))
      ?? difference(expected, actual)
    {
      throw TestFailure(
        "after \(step) the state differs from what was expected by \(difference)")
    }
  }

  /// The patch from one value to the other; nil if they are equal, or are no JSON.
  private func difference(_ expected: Any, _ actual: Any) -> String? {
    guard let expected = expected as? any Encodable, let actual = actual as? any Encodable,
      let before = try? JSON.value(expected), let after = try? JSON.value(actual)
    else { return nil }
    let patch = JSONPatch.difference(from: before, to: after)
    return patch.operations.isEmpty
      ? nil : String(decoding: patch.value.jsonBytes(), as: UTF8.self)
  }

  /// Waits until all work rests: it has ended, sleeps on the clock or has sent an action.
  private func rest() async throws {
    let clock = clock
    _ = await waits(until: { $0.running <= clock.sleeperCount })
  }

  private func waits(until condition: (ScriptedStore<Machine>) -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + patience
    while !condition(scripted) {
      guard ContinuousClock.now < deadline else { return false }
      await Task.yield()
    }
    return true
  }
}

/// What a test expected and did not find.
public struct TestFailure: Error, CustomStringConvertible, Equatable {
  public let description: String
  init(_ description: String) { self.description = description }
}
