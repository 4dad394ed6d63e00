// SPDX-License-Identifier: Apache-2.0

/// All observers of one store: its hooks, each with a queue, its trace while it is on, and the test
/// that drives it.
///
/// Without observers each call costs one comparison: the arguments are autoclosures and are not
/// evaluated.
struct Observers<Machine: StateMachine> {
  private typealias Input = Machine.Input
  private typealias Action = Machine.Action

  private let queues: [HookQueue<Machine>]
  private var trace: ((TraceRecord) -> Void)?
  private var test: ((StoreStep<Machine>) -> Void)?
  private(set) var isEmpty: Bool

  init(_ hooks: [Hook<Machine>]) {
    queues = hooks.map(HookQueue.init)
    isEmpty = queues.isEmpty
  }

  /// Sends all later records to `trace`; nil ends the trace.
  mutating func trace(_ trace: ((TraceRecord) -> Void)?) {
    self.trace = trace
    isEmpty = queues.isEmpty && trace == nil && test == nil
  }

  /// Sends all later steps to a test, immediately.
  mutating func test(_ test: @escaping (StoreStep<Machine>) -> Void) {
    self.test = test
    isEmpty = false
  }

  func opened(_ revision: Revision) {
    if isEmpty { return }
    began(.actions, revision)
    began(.states, revision)
  }

  /// Ends all observation; each hook still receives the calls that are queued.
  mutating func closed(_ revision: Revision) {
    if isEmpty { return }
    ended(.actions, .finished, revision)
    ended(.states, .finished, revision)
    for queue in queues { queue.end() }
    (trace, test) = (nil, nil)
    isEmpty = true
  }

  /// Sends a step to the test that drives the store. `gave` sends the actions that are folded.
  func tested(_ step: @autoclosure () -> StoreStep<Machine>) {
    if isEmpty { return }
    test?(step())
  }

  func began(
    _ operation: @autoclosure () -> Operation,
    input: @autoclosure () -> Machine.Input? = nil, _ revision: Revision
  ) {
    if isEmpty { return }
    let (operation, input) = (operation(), input())
    for queue in queues { queue.began(operation, input) }
    guard let trace else { return }
    trace(TraceRecord(operation: operation, moment: .receiveSubscription, revision: revision))
    trace(
      TraceRecord(
        operation: operation, moment: .receiveRequest, input: input.map(caseName(of:)),
        revision: revision))
  }

  func produced(
    _ action: @autoclosure () -> Machine.Action, _ operation: @autoclosure () -> Operation,
    isFailure: @autoclosure () -> Bool = false, _ revision: Revision
  ) {
    if isEmpty { return }
    let (action, operation, isFailure) = (action(), operation(), isFailure())
    for queue in queues { queue.produced(action, isFailure: isFailure, operation) }
    trace?(
      TraceRecord(
        operation: operation, moment: .receiveOutput, action: caseName(of: action),
        failed: isFailure, revision: revision))
    if operation == .actions { test?(.action(action)) }
  }

  func published(_ state: Machine.ViewState, _ revision: Revision) {
    if isEmpty { return }
    for queue in queues { queue.published(state) }
    trace?(TraceRecord(operation: .states, moment: .receiveOutput, revision: revision))
  }

  func ended(
    _ operation: @autoclosure () -> Operation, _ end: @autoclosure () -> OperationEnd,
    _ revision: Revision
  ) {
    if isEmpty { return }
    let (operation, end) = (operation(), end())
    for queue in queues { queue.ended(operation, end) }
    trace?(
      TraceRecord(
        operation: operation,
        moment: end == .cancelled ? .receiveCancel : .receiveCompletion, failed: end == .failed,
        revision: revision))
  }
}
