// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The replies of one pass of the loop, delivered together to each host.
struct ReplyBatch {
  /// The messages for the queue of each host; a server has one host for each of its threads.
  private var queues: [(queue: ReplyQueue, messages: [EffectMessage])] = []
  private var ended: [@Sendable () -> Void] = []
  private var isClosed = false

  /// Adds a message to the store of a reply.
  mutating func add(_ message: EffectMessage, _ reply: ExchangeReply<ProcessAction>) {
    if isClosed { return }
    if let index = queues.firstIndex(where: { $0.queue === reply.queue }) {
      queues[index].messages.append(message)
    } else {
      queues.append((reply.queue, [message]))
    }
  }

  /// Calls a closure when the messages so far have been delivered.
  mutating func whenDelivered(_ body: @escaping @Sendable () -> Void) { ended.append(body) }

  /// Drops the messages, and those that follow: the loops of the stores end.
  ///
  /// - Parameter closed: Called when no message is being delivered any more.
  mutating func close(_ closed: @escaping @Sendable () -> Void = {}) {
    for body in ended { body() }
    ended = []
    isClosed = true
    let delivering = queues.map(\.queue)
    queues = []
    guard !delivering.isEmpty else { return closed() }
    let left = Lock(delivering.count)
    for queue in delivering {
      // After the messages that were added before.
      queue.add([]) {
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isLast { closed() }
      }
    }
  }

  /// Delivers the messages.
  mutating func flush() {
    var waiting = ended
    ended = []
    for index in queues.indices where !queues[index].messages.isEmpty {
      let callbacks = waiting
      waiting = []
      queues[index].queue.add(queues[index].messages) { for body in callbacks { body() } }
      let count = queues[index].messages.count
      queues[index].messages = []
      // The next pass has about as many, and growing step by step would copy them repeatedly.
      queues[index].messages.reserveCapacity(min(count, 256))
    }
    for body in waiting { body() }
  }
}
