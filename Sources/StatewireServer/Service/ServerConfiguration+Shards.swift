// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Transports

extension ServerConfiguration {
  /// The largest number of shards that an operator can choose.
  static let maximumShards = 256

  /// The number of shards of a server with some kinds.
  ///
  /// - Throws: `StartupError` if the configured number cannot be served.
  func shardCount(_ kinds: [StoreKind]) throws(StartupError) -> Int {
    guard let shards else {
      return kinds.contains(where: \.isShared) ? 1 : mostShards
    }
    guard (1...Self.maximumShards).contains(shards) else {
      throw StartupError(
        "shards is \(shards); the number must be from 1 to \(Self.maximumShards)")
    }
    guard shards > 1 else { return 1 }
    if isTest { throw StartupError("--test serves one shard; omit --shards") }
    if listeners.isEmpty {
      throw StartupError(
        "standard input and output are served by one shard; omit --shards, or pass --tcp, --web or --unix"
      )
    }
    if let shared = kinds.first(where: \.isShared) {
      throw StartupError(
        """
        the store kind "\(shared.name)" has stores that sessions share, which one shard has to serve; omit --shards
        """)
    }
    return shards
  }

  /// The largest number of shards that the server may have.
  var mostShards: Int {
    if listeners.isEmpty || isTest { return 1 }
    return shards ?? min(Server.processors, Self.maximumShards)
  }
}
