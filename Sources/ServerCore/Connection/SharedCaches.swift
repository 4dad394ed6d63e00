// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// What the connections of a shard have worked out, for all of them.
final class SharedCaches {
  let shapes = SendShapes()
  /// The result of `rpc.discover`, once somebody has asked.
  var description: [UInt8]?

  /// That of a shard, made on first use.
  static func of(_ shard: isolated Shard) -> SharedCaches {
    if let known = shard.common as? SharedCaches { return known }
    let made = SharedCaches()
    shard.common = made
    return made
  }
}
