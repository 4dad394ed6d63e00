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
/// is asked about: an expected change must have happened, others may have, and actions that nobody
/// asks for are folded on the way. Failures are thrown, so any test framework will do.
///
/// Work runs only while one of these calls waits, one piece at a time and in a fixed order, so a
/// test gives the same result every time.
///
/// States are compared by what frontends see of them, by their JSON if they are `Encodable`, and by
/// `==` if they are `Equatable`. Of a state that is neither, what frontends do not see is not
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

  // Work that goes on for this many pieces without ever waiting for the clock is a loop.
  private static var mostPieces: Int { 100_000 }

  /// - Parameters:
  ///   - machine: What to test.
  ///   - exhaustive: Whether everything that happens must be named.
  ///   - clock: The time that effects wait on; see `advance`.
  ///   - patience: How long to wait, in real time, for work that waits on neither this clock nor
  ///     other work. Nothing waits this long in a test that passes.
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
  /// - Parameters:
  ///   - input: What to give it.
  ///   - change: Turns the state before into the state that is expected.
  /// - Throws: `TestFailure` if the state is another one, or if an action that came before has not
  ///   been received.
  public func send(
    _ input: Machine.Input, _ change: (inout Machine.State) -> Void = { _ in }
  ) async throws {
    try await rest()
    try refuseUnseen(before: "sending \(input)")
    let before = state
    do {
      try scripted.send(input)
    } catch {
      throw TestFailure("the input \(input) came after the end")
    }
    try compare(before, change, after: "the input \(input)")
  }

  /// Waits for the next action that running work sends, whatever it is, and folds it.
  ///
  /// - Parameter change: Turns the state before into the state that is expected.
  /// - Throws: `TestFailure` if no action comes, or the state is another one.
  public func receive(_ change: (inout Machine.State) -> Void = { _ in }) async throws {
    try await receive(where: { _ in true }, change)
  }

  /// Waits for the next action that running work sends, and folds it.
  ///
  /// - Parameters:
  ///   - isExpected: Whether it is the action that should come.
  ///   - change: Turns the state before into the state that is expected.
  /// - Throws: `TestFailure` if no action comes, another one, or the state is another one.
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
        throw TestFailure("another action was expected than \(action)")
      }
      scripted.foldHeld()
    }
    throw TestFailure("an action was expected and none came")
  }

  /// Moves the clock, waking what is due in order, each after the work before it rests.
  ///
  /// - Throws: `TestFailure` if work goes on and on without waiting for anything.
  public func advance(by duration: Duration) async throws {
    let end = clock.now.advanced(by: duration)
    try await rest()
    while let next = clock.nextDeadline, next <= end {
      clock.advance(to: next)
      try await rest()
    }
    clock.advance(to: end)
    try await rest()
  }

  /// Makes sure that nothing is left, feeds excepted, and ends those.
  ///
  /// - Throws: `TestFailure` naming an action that was not received, or work that still runs.
  public func finish() async throws {
    do {
      let isOver = try await waits(atMost: isExhaustive ? patience : .zero) {
        $0.runningNames.isEmpty || $0.held?.isEmpty == false
      }
      let running = scripted.runningNames
      try refuseUnseen(before: "the end")
      guard isOver || !isExhaustive else {
        throw TestFailure("still running at the end: \(running.joined(separator: ", "))")
      }
    } catch {
      await cancelAll()
      throw error
    }
    await cancelAll()
  }

  /// Ends all running work without looking at what it has sent, and lets it clean up.
  public func cancelAll() async {
    scripted.close()
    try? await rest()
  }

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
      // A mistake in the machine, of whoever writes the test; and `state`, which throws nothing, needs
      // the store as well.
      fatalError("no server could show the initial state of \(Machine.self): \(error)")
    }
  }
}

extension TestStore where Machine.Event: Equatable {
  /// Takes the event that has waited longest, which should be this one.
  ///
  /// - Throws: `TestFailure` if there is none, or another one.
  public func receive(event expected: Machine.Event) async throws {
    try await rest()
    guard let event = scripted.heldEvents?.first else {
      throw TestFailure("the event \(expected) was expected and none came")
    }
    guard event == expected else {
      throw TestFailure("the event \(expected) was expected and \(event) came")
    }
    scripted.heldEvents?.removeFirst()
  }
}

extension TestStore {
  /// Lets the next calls of an operation meet a fault.
  ///
  /// - Parameters:
  ///   - fault: What happens to them.
  ///   - operation: The operation's name.
  ///   - times: How many calls meet it.
  public func inject(_ fault: Fault, into operation: String, times: Int = 1) {
    faults.inject(fault, into: operation, times: times)
  }
}

extension TestStore where Machine.Action: Equatable {
  /// Waits for the next action that running work sends, which should be this one, and folds it.
  ///
  /// - Parameters:
  ///   - expected: The action that should come.
  ///   - change: Turns the state before into the state that is expected.
  /// - Throws: `TestFailure` if no action comes, another one, or the state is another one.
  public func receive(
    _ expected: Machine.Action, _ change: (inout Machine.State) -> Void = { _ in }
  ) async throws {
    try await receive(where: { $0 == expected }, change)
  }
}

// MARK: - Comparing

extension TestStore {
  /// Throws if an action waits to be received; folds it if that is no failure.
  private func refuseUnseen(before step: String) throws {
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
    // Where other changes may have happened, the expected ones must make no difference any more.
    var expected = isExhaustive ? before : state
    change(&expected)
    if let difference = difference(from: expected) {
      throw TestFailure(
        "after \(step) the state differs from what was expected by \(difference)")
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

  /// The patch from one value to the other; nil if they are equal, or are no JSON.
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
  /// Lets work run until all of it waits for the clock or for something outside.
  private func rest() async throws {
    var pieces = 0
    while true {
      pieces += work.run()
      // What work has sent stands in this actor's queue, and then goes on in the work's.
      await Task.yield()
      if work.isEmpty { return }
      guard pieces < Self.mostPieces else {
        throw TestFailure("never at rest: \(scripted.runningNames.joined(separator: ", "))")
      }
    }
  }

  /// Whether a condition comes true: at rest, or while waiting for something outside.
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

/// What a test expected and did not find.
public struct TestFailure: Error, CustomStringConvertible, Equatable {
  public let description: String
  init(_ description: String) { self.description = description }
}
