// SPDX-License-Identifier: Apache-2.0

/// The hooks of one store, each behind a bounded queue that one task empties.
struct HookQueues<Input: Sendable, Action: Sendable> {
  // A hook that is more than this many calls behind misses what comes then.
  private static var capacity: Int { 1024 }

  private typealias Call = HookCall<Input, Action>
  private var queues: [AsyncStream<Call>.Continuation] = []

  init(_ hooks: [Hook<Input, Action>]) {
    for hook in hooks {
      let (calls, queue) = AsyncStream.makeStream(
        of: Call.self, bufferingPolicy: .bufferingOldest(Self.capacity))
      queues.append(queue)
      HookTask.begin { for await call in calls { await hook.receive(call) } }
    }
  }

  /// Lets each hook finish what is queued and no more.
  func end() {
    for queue in queues { queue.finish() }
  }

  func inputReceived(_ input: Input, _ ticket: Ticket) {
    guard !queues.isEmpty else { return }
    put(.subscription(.input(ticket)))
    put(.request(.input(ticket), input))
  }

  func inputGave(_ action: Action, _ ticket: Ticket) {
    put(.output(.input(ticket), action))
  }

  func inputSettled(_ ticket: Ticket, cancelled: Bool) {
    put(cancelled ? .cancel(.input(ticket)) : .completion(.input(ticket)))
  }

  func workBegan(_ operation: Operation) {
    guard !queues.isEmpty else { return }
    put(.subscription(operation))
    put(.request(operation, nil))
  }

  func workGave(_ action: Action, _ operation: Operation) {
    put(.output(operation, action))
  }

  func workEnded(_ operation: Operation, cancelled: Bool) {
    put(cancelled ? .cancel(operation) : .completion(operation))
  }

  private func put(_ call: @autoclosure () -> Call) {
    guard !queues.isEmpty else { return }
    let call = call()
    for queue in queues { queue.yield(call) }
  }
}

extension Operation {
  fileprivate static func input(_ ticket: Ticket) -> Operation {
    Operation(name: "input", number: ticket.rawValue)
  }
}
