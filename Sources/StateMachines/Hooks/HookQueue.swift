// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The calls that wait for one hook, and the task that makes them.
///
/// A hook that is `capacity` calls behind sees nothing of operations that begin then. The end of one
/// that it has seen begin always comes, so that what it has started it can stop; so the queue holds
/// at most the capacity and one call for each running operation.
final class HookQueue<Machine: StateMachine> {
  private typealias Call = HookCall<Machine>

  private static var capacity: Int { 1024 }

  private let hook: Hook<Machine>
  private let calls: AsyncStream<Call>.Continuation
  private let depth = Depth()
  /// Operations that began while the queue was full and have not ended.
  private var hidden: Set<Operation> = []

  init(_ hook: Hook<Machine>) {
    // What is made for each store may be such a one itself, as those built in are.
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

  func gave(
    _ action: @autoclosure () -> Machine.Action, isFailure: Bool, _ operation: Operation
  ) {
    guard isFailure || !hook.failuresOnly else { return }
    gave(.action(action(), isFailure: isFailure), operation)
  }

  func published(_ state: Machine.ViewState) {
    hook.newest?.yield(state)
    if !hook.failuresOnly { gave(.state(state), .states) }
  }

  private func gave(_ output: @autoclosure () -> HookOutput<Machine>, _ operation: Operation) {
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

  /// Lets the hook finish what is queued and no more.
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

/// How many calls wait; counted up by the store and down by the task that empties the queue.
private final class Depth: Sendable {
  let value = Atomic(0)
}
