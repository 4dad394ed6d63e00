// SPDX-License-Identifier: Apache-2.0

/// The path down to an entry of a `CountedTree`: which child at each level, and where in the leaf.
///
/// So that what has been found is not looked for once more to change it. Valid until an entry is inserted
/// or removed; other keys and payloads do not matter, nor nodes that were copied.
struct TreePath {
  // A byte for each level, the leaf's lowest: nodes have 64 elements at most, and a tree of eight levels
  // more entries than there is memory for.
  private var slots: UInt64 = 0

  /// Goes one level down.
  mutating func go(to slot: Int) {
    assert(slots >> 56 == 0 && slot <= UInt8.max)
    slots = slots << 8 | UInt64(truncatingIfNeeded: slot)
  }

  /// Where it goes on in a node of a height; 0 for the leaf.
  func slot(at height: Int) -> Int { Int(truncatingIfNeeded: slots >> UInt64(8 * height) & 0xFF) }

  /// Whether it leads to the first entry of all below a node of a height.
  func isFirst(below height: Int) -> Bool { slots & (1 << UInt64(8 * height) - 1) == 0 }
}
