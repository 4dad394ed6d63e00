// SPDX-License-Identifier: Apache-2.0

/// An index of an object's members by a hash of their keys: an open-addressing table of positions.
///
/// The owner of the members compares the keys; the index only limits the number of comparisons. Of
/// several members with the same key the index contains the last, so many of them cost no more than
/// one. Positions are never removed: an owner that removes members creates a new index from time to
/// time.
struct KeyIndex: Sendable {
  /// The number of members up to which comparing every key is not slower.
  static let worthwhile = 16

  /// The positions plus one, or 0 for a free slot. The number of slots is a power of two; at most
  /// half of them are used.
  private var slots: [Int32] = []
  /// The number of positions in the table, which are 0 to `filled` - 1.
  private var filled = 0

  /// True if there is no table, so that the owner has to compare all keys.
  var isEmpty: Bool { slots.isEmpty }

  /// Adds all positions below `count`, if that is worthwhile.
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

  /// Returns the position of the sought key, which has this hash; nil if there is none.
  ///
  /// - Precondition: The index is not empty.
  func position(hash: Int, where isSought: (Int) -> Bool) -> Int? {
    let position = Int(slots[slot(hash: hash, where: isSought)]) - 1
    return position < 0 ? nil : position
  }

  /// Returns the slot of the sought position, or the free slot for it.
  private func slot(hash: Int, where isSought: (Int) -> Bool) -> Int {
    var slot = hash & (slots.count - 1)
    while slots[slot] != 0, !isSought(Int(slots[slot]) - 1) {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }
}

extension UnsafeRawBufferPointer {
  /// A hash with a random seed per process, so that a client cannot choose colliding keys.
  var seededHash: Int {
    var hasher = Hasher()
    hasher.combine(bytes: self)
    return hasher.finalize()
  }
}

extension String {
  /// The seeded hash of the UTF-8 bytes.
  package var byteHash: Int { withUTF8Bytes(\.seededHash) }
}
