// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// What the connections of a shard have worked out, for all of them.
final class SharedCaches {
  let templates = RequestTemplateCache()
  /// What all connections hold for their peers.
  let buffers: IdentityAccounts
  /// The result of `rpc.discover`, once somebody has asked.
  var description: [UInt8]?

  private init(_ limits: ServerLimits) {
    buffers = IdentityAccounts(maximum: limits.bufferBytes)
  }

  /// That of a shard, made on first use.
  static func of(_ shard: isolated Shard, _ settings: ServerSettings) -> SharedCaches {
    if let known = shard.common as? SharedCaches { return known }
    let made = SharedCaches(settings.limits)
    shard.common = made
    return made
  }
}
