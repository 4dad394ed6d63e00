// SPDX-License-Identifier: Apache-2.0

/// Finds members of an object by a hash of their keys: an open-addressing table of positions.
///
/// Whoever owns the members compares the keys; the index only narrows down where to look. Of
/// several members with one key the index knows the last, so many of them cost no more than one.
/// Nothing is ever taken out of it: an owner that removes members starts a new one now and then.
struct KeyIndex: Sendable {
  /// Up to here comparing every key is no slower.
  static let worthwhile = 16

  /// Positions plus one, 0 where free; their number is a power of two, at most half in use.
  private var slots: [Int32] = []
  /// How many positions, from 0, are in the table.
  private var filled = 0

  /// Whether there is no table, so that the owner has to look through all members.
  var isEmpty: Bool { slots.isEmpty }

  /// Takes in all positions up to `count`, if that is worthwhile.
  mutating func extend(
    to count: Int, hash: (Int) -> Int, haveSameKey: (Int, Int) -> Bool
  ) {
    guard count > Self.worthwhile else { return }
    if slots.count < count * 2 {
      var size = 64
      while size < count * 4 { size *= 2 }
      slots = [Int32](repeating: 0, count: size)
      filled = 0
    }
    while filled < count {
      let position = filled
      let slot = slot(hash: hash(position)) { haveSameKey($0, position) }
      slots[slot] = Int32(position + 1)
      filled += 1
    }
  }

  /// The position whose key has this hash and is the one sought.
  ///
  /// - Precondition: the index is not empty.
  func position(hash: Int, where isSought: (Int) -> Bool) -> Int? {
    let position = Int(slots[slot(hash: hash, where: isSought)]) - 1
    return position < 0 ? nil : position
  }

  /// The slot of the position sought, or the free one where it would be.
  private func slot(hash: Int, where isSought: (Int) -> Bool) -> Int {
    var slot = hash & (slots.count - 1)
    while slots[slot] != 0, !isSought(Int(slots[slot]) - 1) {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}

extension UnsafeRawBufferPointer {
  /// A hash that is seeded per process, so that nobody outside can choose colliding keys.
  var seededHash: Int {
    var hasher = Hasher()
    hasher.combine(bytes: self)
    return hasher.finalize()
  }
}

extension String {
  /// The seeded hash of the UTF-8 bytes.
  var byteHash: Int { withUTF8Bytes(\.seededHash) }
}
