// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Transports

extension ServerConfiguration {
  /// The largest number of shards that an operator can choose.
  static let maximumShards = 256

  /// The number of shards of a server with some kinds; `Server.start` checks that it can have them.
  ///
  /// - Throws: `StartupError` if the configured number is out of range.
  func shardCount(_ kinds: [StoreKind]) throws(StartupError) -> Int {
    guard let shards else { return kinds.contains(where: \.isShared) ? 1 : mostShards }
    guard (1...Self.maximumShards).contains(shards) else {
      throw StartupError(
        "shards is \(shards); the number must be from 1 to \(Self.maximumShards)")
    }
    return shards
  }

  /// The largest number of shards that the server may have.
  var mostShards: Int {
    if let shards { return shards }
    return listeners.isEmpty || isTest ? 1 : min(Server.processors, Self.maximumShards)
  }
}
