// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The connections of one event loop.
final class ConnectionRegistry {
  private var handlers: [ObjectIdentifier: ConnectionHandler] = [:]
  private var whenEmpty: [EventLoopPromise<Void>] = []

  var count: Int { handlers.count }

  func add(_ handler: ConnectionHandler) {
    handlers[ObjectIdentifier(handler)] = handler
  }

  func remove(_ handler: ConnectionHandler) {
    handlers[ObjectIdentifier(handler)] = nil
    guard handlers.isEmpty else { return }
    for promise in whenEmpty { promise.succeed() }
    whenEmpty.removeAll()
  }

  /// Lets every connection finish what it has been asked for.
  /// - Parameter promise: Succeeds when the last one is gone.
  func finishAll(_ promise: EventLoopPromise<Void>) {
    if handlers.isEmpty { return promise.succeed() }
    whenEmpty.append(promise)
    for handler in handlers.values { handler.finish() }
  }

  /// Ends all connections, whatever they have still to send.
  func abandonAll() {
    for handler in handlers.values { handler.abandon() }
  }
}
