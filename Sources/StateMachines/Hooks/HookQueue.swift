// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The calls that wait for one hook, and the task that makes them.
///
/// If `capacity` calls wait, operations that begin then are not passed to the hook. The end of an
/// operation whose beginning was passed to the hook is always queued, so that the hook can stop
/// what it started. Therefore the queue holds at most `capacity` calls plus one for each running
/// operation.
final class HookQueue<Machine: StateMachine> {
  private typealias Call = HookCall<Machine>

  private static var capacity: Int { 1024 }

  private let hook: Hook<Machine>
  private let calls: AsyncStream<Call>.Continuation
  private let depth = Depth()
  /// The operations that began while the queue was full and have not ended.
  private var hidden: Set<Operation> = []

  init(_ hook: Hook<Machine>) {
    // A hook that is made for each store may itself be such a hook; the built-in ones are.
    var hook = hook
    while let renewed = hook.renewed { hook = renewed() }
    let (stream, calls) = AsyncStream.makeStream(of: Call.self)
    self.hook = hook
    self.calls = calls
    HookTask.begin { [depth, hook] in
      for await call in stream {
        depth.value.subtract(1, ordering: .relaxed)
        await hook.receive(call)
      }
    }
  }

  func began(_ operation: Operation, _ input: Machine.Input?) {
    guard hook.stages.contains(operation.stage) else { return }
    guard !isFull else {
      hidden.insert(operation)
      return
    }
    if hook.failuresOnly { return }
    if hook.receiveSubscription != nil { put(.subscription(operation)) }
    if hook.receiveRequest != nil { put(.request(operation, input)) }
  }

  func produced(
    _ action: @autoclosure () -> Machine.Action, isFailure: Bool, _ operation: Operation
  ) {
    guard isFailure || !hook.failuresOnly else { return }
    produced(.action(action(), isFailure: isFailure), operation)
  }

  func published(_ state: Machine.ViewState) {
    hook.newest?.yield(state)
    if !hook.failuresOnly { produced(.state(state), .states) }
  }

  private func produced(_ output: @autoclosure () -> HookOutput<Machine>, _ operation: Operation) {
    guard hook.receiveOutput != nil, hook.stages.contains(operation.stage), !isFull,
      !hidden.contains(operation)
    else { return }
    put(.output(operation, output()))
  }

  func ended(_ operation: Operation, _ end: OperationEnd) {
    guard hook.stages.contains(operation.stage), hidden.remove(operation) == nil,
      end == .failed || !hook.failuresOnly,
      end == .cancelled ? hook.receiveCancel != nil : hook.receiveCompletion != nil
    else { return }
    put(.end(operation, end))
  }

  /// Ends the queue: the hook receives the queued calls and no more.
  func end() {
    calls.finish()
    hook.newest?.finish()
  }

  private var isFull: Bool { depth.value.load(ordering: .relaxed) >= Self.capacity }

  private func put(_ call: Call) {
    depth.value.add(1, ordering: .relaxed)
    calls.yield(call)
  }
}

/// The number of calls that wait. The store increments it, and the task that empties the queue
/// decrements it.
private final class Depth: Sendable {
  let value = Atomic(0)
}
