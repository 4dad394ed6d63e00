// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The hooks of one store, each behind a bounded queue that one task empties.
struct HookQueues<Input: Sendable, Action: Sendable> {
  private typealias Call = HookCall<Input, Action>
  private var queues: [HookQueue<Input, Action>] = []

  init(_ hooks: [Hook<Input, Action>]) {
    queues = hooks.map(HookQueue.init)
  }

  /// Lets each hook finish what is queued and no more.
  func end() {
    for queue in queues { queue.end() }
  }

  func inputReceived(_ input: Input, _ ticket: Ticket) {
    for queue in queues { queue.began(.input(ticket), input) }
  }

  func inputGave(_ action: Action, _ ticket: Ticket) {
    for queue in queues { queue.gave(action, .input(ticket)) }
  }

  func inputSettled(_ ticket: Ticket, cancelled: Bool) {
    for queue in queues { queue.ended(.input(ticket), cancelled: cancelled) }
  }

  func workBegan(_ operation: Operation) {
    for queue in queues { queue.began(operation, nil) }
  }

  func workGave(_ action: Action, _ operation: Operation) {
    for queue in queues { queue.gave(action, operation) }
  }

  func workEnded(_ operation: Operation, cancelled: Bool) {
    for queue in queues { queue.ended(operation, cancelled: cancelled) }
  }
}

/// The calls that wait for one hook.
///
/// A hook that is `capacity` calls behind sees nothing of operations that begin then. The end of one
/// that it has seen begin always comes, so that what it has started it can stop; so the queue holds
/// at most the capacity and one call for each running operation.
private final class HookQueue<Input: Sendable, Action: Sendable> {
  private typealias Call = HookCall<Input, Action>

  private static var capacity: Int { 1024 }

  private let calls: AsyncStream<Call>.Continuation
  private let depth = Depth()
  /// Operations that began while the queue was full and have not ended.
  private var hidden: Set<Operation> = []

  init(_ hook: Hook<Input, Action>) {
    let (stream, calls) = AsyncStream.makeStream(of: Call.self)
    self.calls = calls
    HookTask.begin { [depth] in
      for await call in stream {
        depth.value.subtract(1, ordering: .relaxed)
        await hook.receive(call)
      }
    }
  }

  func began(_ operation: Operation, _ input: Input?) {
    guard !isFull else {
      hidden.insert(operation)
      return
    }
    put(.subscription(operation))
    put(.request(operation, input))
  }

  func gave(_ action: Action, _ operation: Operation) {
    guard !isFull, !hidden.contains(operation) else { return }
    put(.output(operation, action))
  }

  func ended(_ operation: Operation, cancelled: Bool) {
    guard hidden.remove(operation) == nil else { return }
    put(cancelled ? .cancel(operation) : .completion(operation))
  }

  func end() { calls.finish() }

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

extension Operation {
  fileprivate static func input(_ ticket: Ticket) -> Operation {
    Operation(name: "input", number: ticket.rawValue)
  }
}
