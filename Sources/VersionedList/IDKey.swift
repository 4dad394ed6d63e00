// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The number by which a list finds an id: of a short id all there is of it, so that no other id has that
/// number; of a longer one a hash, which another may have by chance.
///
/// Most ids are short. Whose number says all of them is found without a look at the element, which in a
/// long list is in no cache: a wait for memory less wherever the element itself is not wanted.
struct IDKey: Equatable {
  let number: UInt64

  /// Whether no other id has the number.
  var isExact: Bool { number & 1 == 1 }

  init(_ id: String) {
    number = id.withUTF8Bytes { bytes in
      #if DEBUG
        if EqualHashes.mask != .max { return Self.hash(of: bytes) & EqualHashes.mask }
      #endif
      return bytes.count <= Self.most ? Self.exact(bytes) : Self.hash(of: bytes)
    }
  }

  // With their count they take 59 of the 63 bits that there are beside the lowest.
  private static var most: Int { 7 }

  /// The bytes themselves behind their count, spread over all numbers: where numbers are spread evenly the
  /// index guesses well where one stands.
  private static func exact(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var value = UInt64(bytes.count)
    for byte in bytes { value = value << 8 | UInt64(byte) }
    // Each step leads back: an odd factor has an inverse, and what is shifted in comes from bits that stay.
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
  /// Lets tests see what becomes of ids whose hashes are equal, which does not happen by itself.
  enum EqualHashes {
    @TaskLocal static var mask = UInt64.max
  }
#endif
