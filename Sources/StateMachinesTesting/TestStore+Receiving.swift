// SPDX-License-Identifier: Apache-2.0

public import StateMachines

// Receiving what a store does by itself: actions, events and refusals.

extension TestStore {
  /// Waits for the next action that running work or a postponed effect gives, whatever it is.
  ///
  /// - Parameters:
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if no action comes, or the state differs from the expected one.
  public func receive(
    _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    try await receive(
      "an action", change, .init(fileID, filePath, line, column), where: { _ in true })
  }

  /// Waits for the next action that running work or a postponed effect gives.
  ///
  /// - Parameters:
  ///   - isExpected: Returns true for the expected action.
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if no action or another action comes, or the state differs from the
  ///   expected one.
  public func receive(
    where isExpected: (Machine.Action) throws -> Bool,
    _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    try await receive(
      "another action", change, .init(fileID, filePath, line, column), where: isExpected)
  }

  /// Takes a refusal by work (`EffectContext.refuse`). The action that shows it is received after
  /// it.
  ///
  /// - Parameters:
  ///   - code: The expected code of the refusal.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Returns: The refusal, with its message and member.
  /// - Throws: `TestFailure` if no refusal comes, or something else comes first.
  @discardableResult
  public func receive(
    refusal code: InputRefusal.Code,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws -> InputRefusal {
    var found: InputRefusal?
    _ = try await next("the refusal \(code)", .init(fileID, filePath, line, column)) { step in
      guard case .refusal(let refusal) = step, refusal.code == code else { return false }
      found = refusal
      return true
    }
    // `receive` has thrown if no step was the expected one, so `found` was set.
    guard let found else { preconditionFailure("the expected step is a refusal") }
    return found
  }

  fileprivate func receive(
    _ expectation: String, _ change: (inout Machine.State) throws -> Void,
    _ place: TestFailure.Place, where isExpected: (Machine.Action) throws -> Bool
  ) async throws {
    let before = state
    let entry = try await next(expectation, place) { step in
      if case .action(let action) = step { try isExpected(action) } else { false }
    }
    try compare(before, entry.state, change, after: "\(entry)", place)
  }
}

extension TestStore where Machine.Action: Equatable {
  /// Waits for the next action that running work or a postponed effect gives, which must be equal to
  /// the expected one.
  ///
  /// - Parameters:
  ///   - expected: The expected action.
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if no action or another action comes, or the state differs from the
  ///   expected one.
  public func receive(
    _ expected: Machine.Action, _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    try await receive(
      "the action \(expected)", change, .init(fileID, filePath, line, column),
      where: { $0 == expected })
  }
}

extension TestStore where Machine.Event: Equatable {
  /// Takes the next event, which must be equal to the expected one. It comes after its action.
  ///
  /// - Throws: `TestFailure` if no event or another event comes, or an action comes first.
  public func receive(
    event expected: Machine.Event,
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    _ = try await next("the event \(expected)", .init(fileID, filePath, line, column)) { step in
      if case .event(let event) = step { event == expected } else { false }
    }
  }
}
