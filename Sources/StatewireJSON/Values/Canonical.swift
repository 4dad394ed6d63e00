// SPDX-License-Identifier: Apache-2.0

extension JSON {
  /// Returns the RFC 8785 form, in which equal data have equal bytes: no white space, members
  /// sorted by the UTF-16 code units of their keys, numbers as IEEE doubles in their ECMAScript
  /// form.
  ///
  /// - Throws: `JSONError` with the code `number` and the path if a number is too large for a
  ///   `Double`.
  /// - Source: RFC 8785 §3.2.
  public static func canonical(_ value: JSONValue) throws(JSONError) -> [UInt8] {
    var writer = JSONWriter()
    try write(canonical: value, to: &writer)
    return writer.bytes()
  }

  private static func write(
    canonical value: JSONValue, to writer: inout JSONWriter
  ) throws(JSONError) {
    switch value {
    case .number(let number):
      let double = number.double
      guard double.isFinite else {
        throw JSONError(.number, "the number is too large for a Double")
      }
      // RFC 8785 has no negative zero.
      writer.value(double == 0 ? 0 : double)
    case .array(let elements):
      writer.beginArray()
      for (index, element) in elements.enumerated() {
        do {
          try write(canonical: element, to: &writer)
        } catch {
          throw error.under(.index(index))
        }
      }
      writer.endArray()
    case .object(let object):
      writer.beginObject()
      for (key, member) in object.sorted(by: { isOrdered($0.key, $1.key) }) {
        writer.key(key)
        do {
          try write(canonical: member, to: &writer)
        } catch {
          throw error.under(.key(key))
        }
      }
      writer.endObject()
    case .null, .bool, .string:
      writer.value(value)
    }
  }

  private static func isOrdered(_ one: String, _ other: String) -> Bool {
    one.utf16.lexicographicallyPrecedes(other.utf16)
  }

  /// Returns the CRC-32 (IEEE 802.3, as in zlib) of bytes in RFC 8785 form.
  public static func digest(_ canonical: [UInt8]) -> UInt32 {
    canonical.withRawBytes { CRC32.checksum($0) }
  }

  /// Returns the CRC-32 of a value's RFC 8785 form.
  ///
  /// - Throws: The errors of `canonical`.
  public static func digest(of value: JSONValue) throws(JSONError) -> UInt32 {
    digest(try canonical(value))
  }
}

/// The checksum of Ethernet, gzip and PNG: polynomial 0xEDB88320, reflected.
enum CRC32 {
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { tables in
      var crc: UInt32 = 0xFFFF_FFFF
      var offset = 0
      func word(at offset: Int) -> UInt32 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      }
      func part(_ word: UInt32, _ table: Int) -> UInt32 {
        tables[table &* 256 &+ Int(UInt8(truncatingIfNeeded: word))]
      }
      // Eight bytes at a time: each table gives the effect of a byte after zero to seven more
      // bytes.
      while offset &+ 8 <= bytes.count {
        let low = crc ^ UInt32(littleEndian: word(at: offset))
        let high = UInt32(littleEndian: word(at: offset &+ 4))
        crc = part(low, 7) ^ part(low >> 8, 6) ^ part(low >> 16, 5) ^ part(low >> 24, 4)
        crc ^= part(high, 3) ^ part(high >> 8, 2) ^ part(high >> 16, 1) ^ part(high >> 24, 0)
        offset &+= 8
      }
      while offset < bytes.count {
        crc = crc >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[offset])]
        offset &+= 1
      }
      return ~crc
    }
  }

  /// Eight tables of 256 entries, in order.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = []
    for index in 0..<UInt32(256) {
      var crc = index
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
      tables.append(crc)
    }
    for index in 256..<2048 {
      let crc = tables[index - 256]
      tables.append((crc >> 8) ^ tables[Int(crc & 0xFF)])
    }
    return tables
  }()
}
