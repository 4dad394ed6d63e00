// SPDX-License-Identifier: Apache-2.0

/// The path from the root of a `CountedTree` to an entry: the index of the child at each level, and
/// the index in the leaf.
///
/// With a path, an entry that was found can be changed without a second search. A path is valid
/// until an entry is inserted or removed; changes of other keys and payloads, and copies of nodes,
/// do not affect it.
struct TreePath {
  // One byte for each level, the lowest for the leaf: nodes have at most 64 elements, and a tree of
  // eight levels has more entries than fit into memory.
  private var slots: UInt64 = 0

  /// Appends the index of the child at the next lower level.
  mutating func go(to slot: Int) {
    assert(slots >> 56 == 0 && slot <= UInt8.max)
    slots = slots << 8 | UInt64(truncatingIfNeeded: slot)
  }

  /// Returns the index in the node at a height; height 0 is the leaf.
  func slot(at height: Int) -> Int { Int(truncatingIfNeeded: slots >> UInt64(8 * height) & 0xFF) }

  /// Returns true if the path leads to the first entry below the node at a height.
  func isFirst(below height: Int) -> Bool { slots & (1 << UInt64(8 * height) - 1) == 0 }
}
