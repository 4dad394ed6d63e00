// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The checks of a test store.

extension TestStore {
  /// Waits for the next step, which must be an expected one, and takes it from the log.
  ///
  /// - Parameters:
  ///   - expectation: The expected step, in words.
  ///   - isExpected: Returns true for the expected step.
  func next(
    _ expectation: String, _ place: TestFailure.Place,
    where isExpected: (StoreStep<Machine>) throws -> Bool
  ) async throws -> StepLog<Machine>.Entry {
    var checked = 0
    while try await waits(atMost: patience, place, until: { _ in log.entries.count > checked }) {
      try checkFaults(place)
      let new = log.entries.indices.dropFirst(checked)
      if let index = try new.first(where: { try isExpected(log.entries[$0].step) }) {
        guard index == 0 || !isExhaustive else { break }
        let entry = log.entries[index]
        received(log.remove(at: index))
        return entry
      }
      if isExhaustive { break }
      checked = log.entries.count
    }
    let came = isExhaustive ? log.entries.first?.description : nil
    throw TestFailure("expected \(expectation), got \(came ?? "nothing")", place)
  }

  /// Throws if a step has not been received. Skips the actions if the store is not exhaustive.
  func checkNothingIsLeft(before step: String, _ place: TestFailure.Place) throws {
    try checkFaults(place)
    if isExhaustive, let entry = log.entries.first {
      throw TestFailure("\(entry) was not received before \(step)", place)
    }
    record(store.state)
  }

  /// Throws if the machine has made a mistake.
  func checkFaults(_ place: TestFailure.Place) throws {
    for entry in log.entries {
      switch entry.step {
      case .failed, .runsAlready:
        log.removeAll()
        throw TestFailure(entry.description, place)
      case .action, .event, .refusal: break
      }
    }
  }

  /// Checks the state after a step of the test that has folded actions, and takes it as known.
  func take(
    _ before: Machine.State, _ change: (inout Machine.State) throws -> Void, after step: String,
    _ place: TestFailure.Place
  ) throws {
    let after = store.state
    defer { record(after) }
    try checkFaults(place)
    try compare(before, after, change, after: step, place)
  }

  func compare(
    _ before: Machine.State, _ after: Machine.State,
    _ change: (inout Machine.State) throws -> Void, after step: String, _ place: TestFailure.Place
  ) throws {
    // If other changes may have happened, the expected change must have no effect on the current
    // state.
    var expected = isExhaustive ? before : after
    try change(&expected)
    let lines = difference(from: expected, to: after)
    guard !lines.isEmpty else { return }
    let text = lines.map { "\n  \($0)" }.joined()
    throw TestFailure("after \(step) the state differs from the expected state:\(text)", place)
  }

  private func difference(from expected: Machine.State, to actual: Machine.State) -> [String] {
    let shown = lines(machine.view(of: expected), machine.view(of: actual))
    guard shown.isEmpty else { return shown }
    let encoded = lines(expected, actual)
    guard encoded.isEmpty, let equatable = expected as? any Equatable,
      !equatable.isEqual(to: actual)
    else { return encoded }
    let reflected = Difference(
      from: JSONValue(reflecting: expected), to: JSONValue(reflecting: actual)
    ).lines
    return reflected.isEmpty ? ["expected \(expected), got \(actual)"] : reflected
  }

  /// Returns no lines if the values are equal or cannot be encoded as JSON.
  private func lines(_ expected: Any, _ actual: Any) -> [String] {
    guard let expected = expected as? any Encodable, let actual = actual as? any Encodable,
      let before = try? JSON.value(expected), let after = try? JSON.value(actual)
    else { return [] }
    return Difference(from: before, to: after).lines
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { self == other as? Self }
}

extension StoreError {
  func message(after step: String) -> String {
    switch self {
    case .closed: "\(step) was sent after the store was closed"
    case .unencodable(let error): "the state after \(step) cannot be encoded: \(error.message)"
    }
  }
}
