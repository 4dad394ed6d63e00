// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The connections of the admin interface, on its loop only.
///
/// Clients without a token can connect, too, and must not keep operators out. So at the limit a new
/// connection takes the place of the oldest one whose request is not being carried out.
final class AdminConnections {
  private let maximum: Int
  /// The connections, oldest first.
  private var open: [AdminConnection] = []

  /// - Parameter maximum: The maximum number of connections.
  init(maximum: Int) { self.maximum = maximum }

  /// All connections carry out a request, so that a new one is closed.
  struct AllServed: Error {}

  /// Returns the first handler of a new connection, which is counted while its channel has it.
  ///
  /// - Throws: `AllServed`.
  func accept() throws(AllServed) -> AdminConnection {
    if open.count >= maximum {
      guard let oldest = open.first(where: { !$0.isServed }) else { throw AllServed() }
      leave(oldest)
      oldest.abandon()
    }
    return AdminConnection(self)
  }

  fileprivate func enter(_ connection: AdminConnection) { open.append(connection) }

  /// Frees the place of a connection. Further calls have no effect.
  fileprivate func leave(_ connection: AdminConnection) { open.removeAll { $0 === connection } }
}

/// A connection of the admin interface, as the first handler of its channel, before TLS.
final class AdminConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connections: AdminConnections
  private var context: ChannelHandlerContext?
  /// True while the server carries out a request of the client.
  var isServed = false

  fileprivate init(_ connections: AdminConnections) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    connections.enter(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    connections.leave(self)
  }

  /// Closes the connection immediately. A close by a later handler waits for the end of TLS.
  func abandon() { context?.close(promise: nil) }
}
