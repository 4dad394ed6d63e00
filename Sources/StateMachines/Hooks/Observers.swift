// SPDX-License-Identifier: Apache-2.0

/// All observers of one store: its hooks, each with a queue, its trace while it is on, and the test
/// that drives it.
///
/// A store without observers has no such object, so that one of thousands of stores is small.
final class Observers<Machine: StateMachine> {
  private typealias Input = Machine.Input
  private typealias Action = Machine.Action

  private let queues: [HookQueue<Machine>]
  /// Receives all records; nil if there is no trace.
  var trace: ((TraceRecord) -> Void)?
  /// Receives all steps, immediately; nil if no test drives the store.
  var test: ((StoreStep<Machine>) -> Void)?
  var isEmpty: Bool { queues.isEmpty && trace == nil && test == nil }

  init(_ hooks: [Hook<Machine>] = []) { queues = hooks.map(HookQueue.init) }

  func opened(_ revision: Revision) {
    began(.actions, revision)
    began(.states, revision)
  }

  /// Ends all observation; each hook still receives the calls that are queued.
  func closed(_ revision: Revision) {
    ended(.actions, .finished, revision)
    ended(.states, .finished, revision)
    for queue in queues { queue.end() }
  }

  /// Sends a step to the test that drives the store. `gave` sends the actions that are folded.
  func tested(_ step: @autoclosure () -> StoreStep<Machine>) { test?(step()) }

  func began(
    _ operation: Operation, input: Machine.Input? = nil, _ revision: Revision
  ) {
    for queue in queues { queue.began(operation, input) }
    guard let trace else { return }
    trace(TraceRecord(operation: operation, moment: .receiveSubscription, revision: revision))
    trace(
      TraceRecord(
        operation: operation, moment: .receiveRequest, input: input.map(caseName(of:)),
        revision: revision))
  }

  func produced(
    _ action: Machine.Action, _ operation: Operation, isFailure: Bool = false, _ revision: Revision
  ) {
    for queue in queues { queue.produced(action, isFailure: isFailure, operation) }
    trace?(
      TraceRecord(
        operation: operation, moment: .receiveOutput, action: caseName(of: action),
        failed: isFailure, revision: revision))
    if operation == .actions { test?(.action(action)) }
  }

  func published(_ state: Machine.ViewState, _ revision: Revision) {
    for queue in queues { queue.published(state) }
    trace?(TraceRecord(operation: .states, moment: .receiveOutput, revision: revision))
  }

  func ended(_ operation: Operation, _ end: OperationEnd, _ revision: Revision) {
    for queue in queues { queue.ended(operation, end) }
    trace?(
      TraceRecord(
        operation: operation,
        moment: end == .cancelled ? .receiveCancel : .receiveCompletion, failed: end == .failed,
        revision: revision))
  }
}
