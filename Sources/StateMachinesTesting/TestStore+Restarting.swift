// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

// Ends of the process, and what a durable machine makes of them.

extension TestStore where Machine: DurableMachine {
  /// Creates a test store in a state that an earlier process has journaled, also an earlier version
  /// of the machine.
  ///
  /// - Parameters:
  ///   - machine: The machine to test.
  ///   - state: The state as JSON text.
  ///   - version: The `version` of the machine that has journaled it, which `migrate(from:state:)` gets
  ///     if it is older; nil for the version of `machine`.
  ///   - exhaustive: As in `init(_:state:exhaustive:clock:patience:)`.
  ///   - clock: The clock that effects wait on.
  ///   - patience: As in `init(_:state:exhaustive:clock:patience:)`.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if the machine cannot read the state.
  public init(
    restoring machine: Machine, from state: String, version: Int? = nil, exhaustive: Bool = true,
    clock: ManualClock = ManualClock(), patience: Duration = .seconds(2),
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    self.init(machine, exhaustive: exhaustive, clock: clock, patience: patience)
    let place = TestFailure.Place(fileID, filePath, line, column)
    do throws(JSONError) {
      try restore(JSONValue(parsing: state, limits: .stored), version: version)
    } catch {
      throw TestFailure("the state cannot be restored: \(error)", place)
    }
  }

  /// Ends the store as a killed process does, and restores it from its encoded state.
  ///
  /// Nothing of the old store is folded any more. The effect of `resumption(in:)` begins, and the
  /// inputs whose effects had not ended are restarted (`restart(of:in:after:)`). Their immediate
  /// actions are part of this step. Injected faults stay.
  ///
  /// - Parameters:
  ///   - elapsed: The time until the new process runs; the clock is advanced by it.
  ///   - losingInputs: True if the unsettled inputs are lost, as with a damaged journal; then the
  ///     action of `interruption(in:)` is folded first.
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if the state differs from the expected one, also because a part of it is
  ///   not encoded; if the state or an input cannot be restored; or if an earlier step has not been
  ///   received.
  public func restart(
    after elapsed: Duration = .zero, losingInputs: Bool = false,
    _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let place = TestFailure.Place(fileID, filePath, line, column)
    try await rest(place)
    try checkNothingIsLeft(before: "the restart", place)
    let before = state
    let journal = Journal()
    store.record(by: journal)
    let lastOperation = store.lastOperation
    await close()
    log.removeAll()
    clock.advance(to: clock.now.advanced(by: elapsed))
    guard let state = journal.state else {
      throw TestFailure("the state cannot be encoded: \(before)", place)
    }
    do throws(JSONError) {
      try restore(
        JSONValue(parsing: state.wholeText, limits: .stored), revision: journal.revision + 1,
        lastOperation: lastOperation, losingInputs ? nil : journal.accepted)
    } catch {
      throw TestFailure("the store cannot be restored: \(error)", place)
    }
    try take(before, change, after: "the restart", place)
  }

  /// Opens a store in a journaled state.
  ///
  /// - Parameter accepted: The inputs to restart; nil if they are lost.
  private func restore(
    _ state: JSONValue, version: Int? = nil, revision: Revision = 0, lastOperation: UInt64 = 0,
    _ accepted: [Journal.Accepted]? = []
  ) throws(JSONError) {
    let number = nextNumber
    let store = try Store(
      restoring: machine, number: number, host: self, environment: environment,
      revision: revision, lastOperation: lastOperation, state: state, version: version)
    begin(store, as: number)
    store.resume(areSomeLost: accepted == nil)
    for accepted in accepted ?? [] {
      let age = clock.sinceEpoch - accepted.time
      try store.restart(
        AcceptedInput(
          operation: accepted.operation, epoch: accepted.epoch, input: accepted.input, age: age))
    }
    record(store.state)
  }
}

/// The journal of one moment: the state of a store and its unsettled inputs.
private final class Journal: StoreRecorder {
  struct Accepted {
    let input: [UInt8]
    let operation: UInt64
    let epoch: UInt64
    let time: Duration
  }

  private(set) var state: JSONEncodedState?
  private(set) var revision: Revision = 0
  private(set) var accepted: [Accepted] = []

  func stateChanged(_ state: JSONEncodedState, revision: Revision) {
    (self.state, self.revision) = (state, revision)
  }

  func folded(_ patch: UnsafeRawBufferPointer, revision: Revision) -> Bool { false }

  func accepted(_ input: [UInt8], operation: UInt64, epoch: UInt64, at time: Duration) {
    accepted.append(Accepted(input: input, operation: operation, epoch: epoch, time: time))
  }

  func settled(operation: UInt64) {}
}
