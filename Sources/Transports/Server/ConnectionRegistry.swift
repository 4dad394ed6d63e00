// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The connections of one event loop.
final class ConnectionRegistry {
  private var handlers: [ObjectIdentifier: ConnectionHandler] = [:]
  private var whenEmpty: EventLoopPromise<Void>?

  var count: Int { handlers.count }

  func add(_ handler: ConnectionHandler) {
    handlers[ObjectIdentifier(handler)] = handler
  }

  func remove(_ handler: ConnectionHandler) {
    handlers[ObjectIdentifier(handler)] = nil
    if handlers.isEmpty { whenEmpty?.succeed() }
  }

  /// Lets every connection finish what it has been asked for.
  /// - Parameter promise: Succeeds when the last one is gone.
  func finishAll(_ promise: EventLoopPromise<Void>) {
    whenEmpty = promise
    if handlers.isEmpty { return promise.succeed() }
    for handler in handlers.values { handler.finish() }
  }
}
