// SPDX-License-Identifier: Apache-2.0

/// The shapes that frontends' inputs come in, kept once for all connections of a shard: thousands of
/// frontends write alike.
final class SendShapes {
  private var all: [SendShape] = []

  // So many kinds of frontends one server is used by.
  private static var maximumCount: Int { 32 }

  /// A shape, or one that is the same and is there already.
  func shared(_ shape: SendShape) -> SendShape {
    if let known = all.first(where: { $0.isSame(as: shape) }) { return known }
    if all.count == Self.maximumCount { all.removeFirst() }
    all.append(shape)
    return shape
  }
}
