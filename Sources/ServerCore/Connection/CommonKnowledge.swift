// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// What the connections of a shard have in common.
final class CommonKnowledge {
  let shapes = SendShapes()
  /// The result of `rpc.discover`, once somebody has asked.
  var description: [UInt8]?

  /// That of a shard, made on first use.
  static func of(_ shard: isolated Shard) -> CommonKnowledge {
    if let known = shard.common as? CommonKnowledge { return known }
    let made = CommonKnowledge()
    shard.common = made
    return made
  }
}
