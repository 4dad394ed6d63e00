// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// The caches that all connections of a shard share.
final class SharedCaches {
  let templates = RequestTemplateCache()
  /// The accounts of the bytes that all connections hold for their clients.
  let buffers: IdentityAccounts
  /// The result of `rpc.discover`; nil until the first request for it.
  var description: [UInt8]?

  private init(_ memory: MemoryPools) {
    buffers = IdentityAccounts(memory)
  }

  /// Returns the caches of a shard, which are created on first use.
  static func of(_ shard: isolated Shard, _ settings: ServerSettings) -> SharedCaches {
    if let known = shard.common as? SharedCaches { return known }
    let made = SharedCaches(shard.group.bufferMemory(maximum: settings.limits.bufferBytes))
    shard.common = made
    shard.otherAccounts.append(made.buffers)
    return made
  }
}
