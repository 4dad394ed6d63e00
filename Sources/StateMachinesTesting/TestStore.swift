// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// A driver that runs a state machine step by step and checks each step.
///
/// - `send` sends an input; its immediate actions are part of it.
/// - `receive` takes the next action of running work, or of an effect that was postponed. Immediate
///   actions that it causes are part of it.
/// - `finish` checks that nothing was missed and that no work still runs.
///
/// Each takes a closure that makes the expected change of the state. Any other change is a failure,
/// and so is an expected change that does not happen. Actions, events and refusals by work are
/// received in the order in which they happen. A store that is not exhaustive checks less: an
/// expected change must have happened, other changes may have happened, and what is not received is
/// skipped. Failures are thrown, so any test framework can be used; they name the line of the call.
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
  let machine: Machine
  let isExhaustive: Bool
  let clock: ManualClock
  let patience: Duration
  let faults = Faults()
  let log = StepLog<Machine>()
  private let work = WorkQueue()
  private let initialState: Machine.State?
  private var running: Store<Machine>?
  private var number = 0
  /// The state after the last step that the test has sent or received.
  private var known: Machine.State?

  // Work that runs this many jobs without waiting for the clock is treated as an endless loop.
  private static var maximumJobs: Int { 100_000 }

  /// Creates a test store.
  ///
  /// - Parameters:
  ///   - machine: The machine to test.
  ///   - state: The state to begin with; nil for the initial state of the machine.
  ///   - exhaustive: True if each action, event and refusal must be received, and all work must
  ///     end.
  ///   - clock: The clock that effects wait on; see `advance`.
  ///   - patience: The longest wait, in real time, for work that waits neither on this clock nor on
  ///     other work. No passing test waits this long.
  public init(
    _ machine: Machine, state: Machine.State? = nil, exhaustive: Bool = true,
    clock: ManualClock = ManualClock(), patience: Duration = .seconds(2)
  ) {
    self.machine = machine
    initialState = state
    isExhaustive = exhaustive
    self.clock = clock
    self.patience = patience
  }

  /// The state after the last step that was sent or received.
  public var state: Machine.State {
    let store = store
    return known ?? store.state
  }

  /// Sends an input. Its immediate actions are folded and are not received.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - viewer: The participant that sends it.
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if the machine refuses the input, if the state differs from the
  ///   expected one, or if an earlier step has not been received.
  public func send(
    _ input: Machine.Input, from viewer: Viewer = .server,
    _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let place = TestFailure.Place(fileID, filePath, line, column)
    try await rest(place)
    try checkNothingIsLeft(before: "sending \(input)", place)
    if let refusal = refusal(of: input, from: viewer) {
      throw TestFailure("the machine refuses the input \(input): \(refusal.inWords)", place)
    }
    let before = state
    do throws(StoreError) {
      try store.send(input, from: viewer)
    } catch {
      record(store.state)
      throw TestFailure(error.message(after: "the input \(input)"), place)
    }
    try take(before, change, after: "the input \(input)", place)
  }

  /// Sends an input that the machine must refuse; nothing changes.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - viewer: The participant that sends it.
  ///   - code: The expected code of the refusal.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Returns: The refusal, with its message and member.
  /// - Throws: `TestFailure` if the machine accepts the input or refuses it with another code, or if
  ///   an earlier step has not been received.
  @discardableResult
  public func send(
    _ input: Machine.Input, from viewer: Viewer = .server, refused code: InputRefusal.Code,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> InputRefusal {
    let place = TestFailure.Place(fileID, filePath, line, column)
    try await rest(place)
    try checkNothingIsLeft(before: "sending \(input)", place)
    guard let refusal = refusal(of: input, from: viewer) else {
      throw TestFailure(
        "expected the refusal \(code), but the machine accepts the input \(input)", place)
    }
    guard refusal.code == code else {
      throw TestFailure("expected the refusal \(code), got \(refusal.inWords)", place)
    }
    return refusal
  }

  /// Advances the clock and wakes sleepers in the order of their deadlines; before each, all work
  /// runs until it is idle.
  ///
  /// - Throws: `TestFailure` if work runs without end and never waits.
  public func advance(
    by duration: Duration,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let place = TestFailure.Place(fileID, filePath, line, column)
    let end = clock.now.advanced(by: duration)
    try await rest(place)
    // One sleep at a time, as on a server with `--test`.
    while clock.wakeFirst(notAfter: end) { try await rest(place) }
    clock.advance(to: end)
    try await rest(place)
  }

  /// Injects a fault into the next calls of an operation.
  ///
  /// - Parameters:
  ///   - fault: The fault.
  ///   - operation: The name of the operation.
  ///   - times: The number of calls.
  public func inject(_ fault: Fault, into operation: String, times: Int = 1) {
    faults.inject(fault, into: operation, times: times)
  }

  /// Checks that nothing was missed and no work runs, except feeds, and then cancels the feeds.
  ///
  /// - Throws: `TestFailure` with a step that was not received, or work that still runs.
  public func finish(
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let place = TestFailure.Place(fileID, filePath, line, column)
    do {
      let isOver = try await waits(atMost: isExhaustive ? patience : .zero, place) {
        $0.runningNames.isEmpty || !log.entries.isEmpty
      }
      let running = store.runningNames
      try checkNothingIsLeft(before: "the end", place)
      guard isOver || !isExhaustive else {
        throw TestFailure("still running at the end: \(running.joined(separator: ", "))", place)
      }
    } catch {
      await cancelAll()
      throw error
    }
    await cancelAll()
  }

  /// Cancels all running work, ignores what it has sent, and lets it end.
  public func cancelAll() async {
    _ = state
    await close()
    log.removeAll()
  }

  /// Passes a message from running work to the store.
  public func deliver(_ message: EffectMessage) {
    if message.store.rawValue == number { store.receive(message) }
  }
}

// MARK: - The store

extension TestStore {
  /// The store that runs now. It opens when it is first used, because an initializer cannot pass
  /// its actor to a store.
  var store: Store<Machine> {
    if let running { return running }
    do throws(StoreError) {
      let store = try Store(
        testing: machine, in: initialState ?? machine.initialState, number: StoreNumber(number),
        host: self, environment: environment)
      begin(store)
      store.beginInitialEffect()
      record(store.state)
      return store
    } catch {
      // A mistake in the tested machine. `state` needs the store and cannot throw.
      fatalError("cannot open a store of \(Machine.self): \(error)")
    }
  }

  var environment: StoreEnvironment {
    StoreEnvironment(clock: clock, executor: work, faults: faults)
  }

  /// The number of a store that takes the place of the running one.
  var nextNumber: StoreNumber { StoreNumber(number + 1) }

  /// Makes a store the running one, before its first effect begins.
  func begin(_ store: Store<Machine>, as number: StoreNumber = StoreNumber(0)) {
    running = store
    self.number = number.rawValue
    // As in a session that is journaled, effects receive the id of their operation.
    _ = store.prepareRecord(scope: "test", epoch: UInt64(number.rawValue + 1))
    store.test { [log, unowned store] step in
      log.add(step, store.state, isPerformingFollowUps: store.isPerformingFollowUps)
    }
  }

  /// Closes the store and lets its work end.
  func close() async {
    store.close()
    try? await rest(TestFailure.Place("", "", 0, 0))
  }

  /// Records that a step of the test has ended in a state.
  func record(_ state: Machine.State) {
    log.removeActions()
    known = state
  }

  /// Records the state after the actions that the test has received; nil if it received none.
  func received(_ state: Machine.State?) { known = state ?? known }
}

// MARK: - Waiting

extension TestStore {
  /// Runs work until all of it waits for the clock or for an external event.
  func rest(_ place: TestFailure.Place) async throws {
    let store = store
    var jobs = 0
    while true {
      jobs += work.run()
      // A message from work is first in this actor's queue, and then in the queue of the work.
      await Task.yield()
      if work.isEmpty { return }
      guard jobs < Self.maximumJobs else {
        throw TestFailure("never idle: \(store.runningNames.joined(separator: ", "))", place)
      }
    }
  }

  /// Waits until a condition is true when all work is idle; also waits for external events.
  ///
  /// - Returns: False if the condition was not true within the time, or no work runs.
  func waits(
    atMost patience: Duration, _ place: TestFailure.Place,
    until condition: (Store<Machine>) -> Bool
  ) async throws -> Bool {
    let deadline = ContinuousClock.now + patience
    while true {
      try await rest(place)
      if condition(store) { return true }
      if store.isIdle || ContinuousClock.now >= deadline { return false }
    }
  }
}

extension TestStore {
  /// Returns the reason for which a server or the machine refuses an input.
  private func refusal(of input: Machine.Input, from viewer: Viewer) -> InputRefusal? {
    if viewer != .server, let refusal = store.reservation(of: input) { return refusal }
    return store.refusal(of: input, from: viewer)
  }
}
