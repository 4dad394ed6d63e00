// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The replies of one pass of the loop, delivered together to each host.
struct ReplyBatch {
  /// The messages for the queue of each host; a server has one host for each of its threads.
  private var hosts: [(queue: ReplyQueue, messages: [EffectMessage])] = []
  private var ended: [@Sendable () -> Void] = []
  private var isClosed = false

  /// Adds a message to the store of a reply.
  mutating func add(_ message: EffectMessage, _ reply: ExchangeReply<ProcessAction>) {
    if isClosed { return }
    if let host = hosts.firstIndex(where: { $0.queue === reply.queue }) {
      hosts[host].messages.append(message)
    } else {
      hosts.append((reply.queue, [message]))
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
    let delivering = hosts
    hosts = []
    guard !delivering.isEmpty else { return closed() }
    let left = Lock(delivering.count)
    for host in delivering {
      // After the messages that were added before.
      host.queue.add([]) {
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
    for index in hosts.indices where !hosts[index].messages.isEmpty {
      let callbacks = waiting
      waiting = []
      hosts[index].queue.add(hosts[index].messages) { for body in callbacks { body() } }
      hosts[index].messages = []
    }
    for body in waiting { body() }
  }
}
