// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Transports

extension ServerConfiguration {
  /// Returns the number of shards of a server with some kinds; `Server.start` checks that it can have
  /// them.
  func shardCount(_ kinds: [StoreKind]) -> Int {
    shards == nil && kinds.contains(where: \.isShared) ? 1 : mostShards
  }

  /// The largest number of shards that the server may have.
  var mostShards: Int {
    if let shards { return shards }
    return listeners.isEmpty || isTest ? 1 : min(Server.processors, Server.maximumShards)
  }
}
