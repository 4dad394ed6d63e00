// SPDX-License-Identifier: Apache-2.0

public import StateMachines

// Changes of the viewers, as on a server.

extension TestStore {
  /// Sets the subscribed viewers: sends the input that the machine and its children return for them
  /// (`input(for:)`), if any. Its immediate actions are part of this step.
  ///
  /// - Parameters:
  ///   - viewers: All subscribed viewers, in the order of their subscriptions.
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if the machine is not aware of its viewers, if the state differs from the
  ///   expected one, or if an earlier step has not been received.
  public func present(
    _ viewers: [Viewer], _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let place = TestFailure.Place(fileID, filePath, line, column)
    guard store.isPresenceAware else {
      throw TestFailure(
        "\(Machine.self) is not aware of its viewers; use a PresenceAwareMachine", place)
    }
    try await step("the change of the viewers", change, place) { $0.take(viewers) }
  }

  /// Enters a phase, because the last active frontend has become inactive or one is active again:
  /// sends the input that the machine and its children return for it (`input(for:)`), if any. Its
  /// immediate actions are part of this step.
  ///
  /// - Parameters:
  ///   - phase: The new phase.
  ///   - change: Changes the previous state to the expected one.
  ///   - fileID: The file of the call, as module and name, for a failure.
  ///   - filePath: The path of that file.
  ///   - line: The line of the call.
  ///   - column: The column of the call.
  /// - Throws: `TestFailure` if the state differs from the expected one, or if an earlier step has not
  ///   been received.
  public func enter(
    _ phase: LifecyclePhase, _ change: (inout Machine.State) throws -> Void = { _ in },
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
  ) async throws {
    let place = TestFailure.Place(fileID, filePath, line, column)
    try await step("the phase \(phase)", change, place) { $0.take(phase) }
  }

  private func step(
    _ step: String, _ change: (inout Machine.State) throws -> Void, _ place: TestFailure.Place,
    _ body: (Store<Machine>) -> Void
  ) async throws {
    try await rest(place)
    try checkNothingIsLeft(before: step, place)
    let before = state
    body(store)
    try take(before, change, after: step, place)
  }

  /// Returns the viewers that receive an event in the current state.
  public func recipients(of event: Machine.Event) -> EventRecipients {
    machine.recipients(of: event, in: state)
  }

  /// Returns the view of the current state that a viewer sees.
  public func view(for viewer: Viewer) -> Machine.ViewState {
    machine.view(of: state, for: machine.audience(of: viewer))
  }
}
