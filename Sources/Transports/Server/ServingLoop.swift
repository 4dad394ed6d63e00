// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// An event loop of a server, with its shard and its connections.
struct ServingLoop: Sendable {
  let shard: Shard
  let loop: any EventLoop
  let registry: NIOLoopBoundBox<ConnectionRegistry>
  /// The metrics of the connections.
  let metrics: ConnectionMetrics

  init(
    _ shard: Shard, _ settings: ServerSettings, _ counts: ConnectionCounts, on loop: any EventLoop
  ) {
    self.shard = shard
    self.loop = loop
    let metrics = ConnectionMetrics()
    self.metrics = metrics
    registry = .makeBoxSendingValue(
      ConnectionRegistry(settings, of: shard, on: loop, counts, metrics), eventLoop: loop)
  }

  /// Calls `body` with the connections, on the loop.
  func execute(_ body: @escaping @Sendable (ConnectionRegistry) -> Void) {
    loop.execute { [registry] in body(registry.value) }
  }
}
