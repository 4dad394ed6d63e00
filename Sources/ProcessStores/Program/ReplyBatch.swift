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

  /// Adds a message to the store of a reply.
  mutating func add(_ message: EffectMessage, _ reply: ExchangeReply<ProcessAction>) {
    guard let host = reply.host else { return }
    let id = ObjectIdentifier(host)
    // The memory of a host that has gone may have a new one.
    if hosts[id]?.host !== host { hosts[id] = Host(queue: ReplyQueue(host: host), host: host) }
    hosts[id]?.messages.append(message)
  }

  /// Calls a closure when the messages so far have been delivered.
  mutating func whenDelivered(_ body: @escaping @Sendable () -> Void) { ended.append(body) }

  /// Drops the messages, whose stores have ended.
  mutating func drop() {
    for body in ended { body() }
    (hosts, ended) = ([:], [])
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
