// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The number by which a list finds an id. A short id is contained completely in its number, so no
/// other id has that number. A longer id has a hash, which another id may share by chance.
///
/// Most ids are short. An id that is contained in its number is found without reading the element,
/// which in a long list is in no cache: this saves one memory access if the element itself is not
/// needed.
struct IDKey: Equatable {
  let number: UInt64

  /// True if no other id has the number.
  var isExact: Bool { number & 1 == 1 }

  init(_ id: String) {
    number = id.withUTF8Bytes { bytes in
      #if DEBUG
        if EqualHashes.mask != .max { return Self.hash(of: bytes) & EqualHashes.mask }
      #endif
      return bytes.count <= Self.most ? Self.exact(bytes) : Self.hash(of: bytes)
    }
  }

  // The most bytes of a short id: with their count, 7 bytes take 59 of the 63 bits above the lowest
  // one.
  private static var most: Int { 7 }

  /// Encodes the count and the bytes in one number, and distributes these numbers evenly, because
  /// the search in the index estimates positions from evenly distributed numbers.
  private static func exact(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var value = UInt64(bytes.count)
    for byte in bytes { value = value << 8 | UInt64(byte) }
    // Each step is invertible: an odd factor has an inverse, and the shifted-in bits come from bits
    // that are preserved.
    value = value &* 0x9E37_79B9_7F4A_7C15 & .max >> 1
    value ^= value >> 32
    return (value &* 0xD6E8_FEB8_6659_FD93) << 1 | 1
  }

  private static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt64(bitPattern: Int64(hasher.finalize())) & ~1
  }
}

#if DEBUG
  /// A switch with which tests make hashes equal, which does not happen by chance.
  enum EqualHashes {
    @TaskLocal static var mask = UInt64.max
  }
#endif
