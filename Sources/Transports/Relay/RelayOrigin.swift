// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// The transport of a connection whose client attaches to a session of another shard: it gets the
/// result of the request.
protocol RelayOrigin: AnyObject {
  /// The connection cannot be relayed; called on its loop.
  func relayRefused(_ number: UInt32, _ refusal: RelayRefusal)

  /// The client has attached; the connection of `end` gets the client's later input.
  func relayAccepted(_ number: UInt32, by end: RelayEnd)
}

/// A reference to an origin, for other loops.
struct RelayOriginReference: Sendable {
  private let origin: NIOLoopBound<any RelayOrigin>
  private let loop: any EventLoop

  init(_ origin: any RelayOrigin, on loop: any EventLoop) {
    self.origin = NIOLoopBound(origin, eventLoop: loop)
    self.loop = loop
  }

  func execute(_ body: @escaping @Sendable (any RelayOrigin) -> Void) {
    loop.execute { [origin] in body(origin.value) }
  }
}
