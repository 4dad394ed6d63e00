// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import NIOCore
import NIOPosix
import StateMachines
import TestSupport

/// A relay between nodes that can hold what one node sends to another, as a partition does.
final class HeldLine: Sendable {
  let address: ServerAddress
  private let listener: any Channel
  private let state: Lock<State>

  struct State {
    /// The number of parts that each connection passes on; nil: all.
    var passed: Int?
    var connections: [ObjectIdentifier: Forwarding] = [:]
  }

  private init(_ listener: any Channel, _ state: Lock<State>) {
    (self.listener, self.state) = (listener, state)
    address = .tcp(host: "127.0.0.1", port: listener.localAddress?.port ?? 0)
  }

  /// Creates a line to a node.
  static func open(to port: Int) async throws -> HeldLine {
    let state = Lock(State())
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        ClientBootstrap(group: channel.eventLoop)
          .channelOption(.allowRemoteHalfClosure, value: true)
          .channelInitializer { other in
            other.eventLoop.makeCompletedFuture {
              try other.pipeline.syncOperations.addHandler(Forwarding(to: channel))
            }
          }
          .connect(host: "127.0.0.1", port: port)
          .flatMapThrowing { other in
            let forwarding = Forwarding(to: other, holding: state)
            state.withLock { $0.connections[ObjectIdentifier(forwarding)] = forwarding }
            try channel.pipeline.syncOperations.addHandler(forwarding)
          }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return HeldLine(listener, state)
  }

  /// Holds what comes after a number of parts on each connection.
  func hold(after count: Int) { state.withLock { $0.passed = count } }

  /// The number of parts that are held.
  var heldCount: Int { state.withLock { $0.connections.values.map(\.heldCount).reduce(0, +) } }

  /// The number of open connections.
  var connectionCount: Int { state.withLock { $0.connections.count } }

  /// Sends what was held, and holds nothing more.
  func release() {
    let connections = state.withLock { state in
      state.passed = nil
      return Array(state.connections.values)
    }
    for connection in connections { connection.release() }
  }

  func close() async throws { try await listener.close() }
}

/// Passes what one channel receives to another one.
final class Forwarding: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private let line: Lock<HeldLine.State>?
  private let parts = Lock(Parts())

  private struct Parts {
    var passed = 0
    /// The parts that are held; nil: the end of the stream.
    var held: [ByteBuffer?] = []
  }

  init(to other: any Channel, holding line: Lock<HeldLine.State>? = nil) {
    (self.other, self.line) = (other, line)
  }

  var heldCount: Int { parts.withLock { $0.held.count } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { pass(unwrapInboundIn(data)) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { pass(nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    line?.withLock { $0.connections[ObjectIdentifier(self)] = nil }
    other.close(promise: nil)
  }

  private func pass(_ part: ByteBuffer?) {
    let limit = line?.withLock { $0.passed }
    let isHeld = parts.withLock { parts in
      guard let limit, parts.passed >= limit else {
        parts.passed += 1
        return false
      }
      parts.held.append(part)
      return true
    }
    if !isHeld { send(part) }
  }

  func release() { for part in parts.withLock({ $0.held.drained() }) { send(part) } }

  private func send(_ part: ByteBuffer?) {
    if let part {
      other.writeAndFlush(part, promise: nil)
    } else {
      other.close(mode: .output, promise: nil)
    }
  }
}

extension Array {
  fileprivate mutating func drained() -> [Element] {
    defer { removeAll() }
    return self
  }
}
