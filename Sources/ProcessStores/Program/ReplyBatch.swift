// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The replies of one pass of the loop, delivered together to each host.
struct ReplyBatch {
  private struct Host {
    let queue: ReplyQueue
    weak var host: (any StoreHost)?
    var messages: [EffectMessage] = []
  }

  private var hosts: [ObjectIdentifier: Host] = [:]
  private var ended: [@Sendable () -> Void] = []
  private var isClosed = false

  /// Adds a message to the store of a reply.
  mutating func add(_ message: EffectMessage, _ reply: ExchangeReply<ProcessAction>) {
    guard !isClosed, let host = reply.host else { return }
    let id = ObjectIdentifier(host)
    // The memory of a host that has gone may have a new one.
    if hosts[id]?.host !== host { hosts[id] = Host(queue: ReplyQueue(host: host), host: host) }
    hosts[id]?.messages.append(message)
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
    let delivering = hosts.values
    hosts = [:]
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
    for (id, host) in hosts where !host.messages.isEmpty {
      let callbacks = waiting
      waiting = []
      host.queue.add(host.messages) { for body in callbacks { body() } }
      hosts[id]?.messages = []
    }
    for body in waiting { body() }
  }
}
