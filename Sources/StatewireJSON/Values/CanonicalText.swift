// SPDX-License-Identifier: Apache-2.0

extension JSON {
  /// Returns the CRC-32 of the RFC 8785 form of a text, the same as `digest(of:)` for its tree.
  ///
  /// It does not create the tree, which for a large state would need many times the memory of its
  /// text.
  ///
  /// - Throws: `JSONError` if the text is not JSON or a number is too large for a `Double`.
  public static func digest(ofText text: UnsafeRawBufferPointer) throws(JSONError) -> UInt32 {
    var reader = JSONReader(text)
    var form = CanonicalText(reserving: text.count)
    try form.write(&reader)
    try reader.finish()
    return form.writer.withBytes { CRC32.checksum($0) }
  }
}

/// A writer of the RFC 8785 form of a text.
private struct CanonicalText: ~Copyable {
  var writer: JSONWriter
  /// The members of the open objects, those of the innermost object last.
  private var members: [(key: JSONKey, value: JSONReader)] = []

  init(reserving count: Int) { writer = JSONWriter(reserving: count) }

  mutating func write(_ reader: inout JSONReader) throws(JSONError) {
    switch try reader.peek() {
    case .object:
      try writeObject(&reader)
    case .array:
      try reader.beginArray()
      writer.beginArray()
      while try reader.nextElement() { try write(&reader) }
      writer.endArray()
    case .string:
      writer.separate()
      write(try reader.readStringBytes())
    case .number:
      let number = try reader.scanNumber()
      if number.isShort, number.magnitude < 1 << 53 {
        // RFC 8785 has no negative zero.
        let magnitude = Int64(number.magnitude)
        writer.value(number.isNegative ? -magnitude : magnitude)
      } else {
        let start = number.range.lowerBound
        guard let double = JSONNumber.double(of: reader.bytes(in: number.range)) else {
          throw reader.error(.number, "the number is too large for a Double", at: start)
        }
        writer.value(double == 0 ? 0 : double)
      }
    case .bool:
      writer.value(try reader.readBool())
    case .null:
      try reader.readNull()
      writer.null()
    }
  }

  /// Writes a string without a comma. Only escapes can be written in more than one way.
  private mutating func write(_ string: JSONKey) {
    if string.isEscaped {
      writer.string(string.string)
    } else {
      writer.string(utf8: string.rawBytes)
    }
  }

  private mutating func writeObject(_ reader: inout JSONReader) throws(JSONError) {
    let first = members.count
    try reader.beginObject()
    while let key = try reader.nextKey() {
      members.append((key, reader))
      _ = try reader.skipValue()
    }
    order(from: first)
    writer.beginObject()
    for index in first..<members.count {
      var (key, value) = members[index]
      writer.separate()
      write(key)
      writer.raw(byte: UInt8(ascii: ":"))
      try write(&value)
    }
    writer.endObject()
    members.removeSubrange(first...)
  }

  /// Sorts the members of an object; the last of several members with the same key counts.
  private mutating func order(from first: Int) {
    // The members are usually sorted already.
    guard members.count - first > 1,
      !(first + 1..<members.count).allSatisfy({
        Self.isOrdered(members[$0 - 1].key, members[$0].key)
      })
    else { return }
    members[first...].sort { one, other in
      if Self.isOrdered(one.key, other.key) { return true }
      return !Self.isOrdered(other.key, one.key) && one.value.position < other.value.position
    }
    var last = first
    for index in first + 1..<members.count {
      if Self.isOrdered(members[last].key, members[index].key) { last += 1 }
      members[last] = members[index]
    }
    members.removeSubrange((last + 1)...)
  }

  /// Returns true if one key sorts before another: by UTF-16 code units, which for ASCII are the
  /// bytes.
  private static func isOrdered(_ one: JSONKey, _ other: JSONKey) -> Bool {
    guard isPlain(one), isPlain(other) else {
      return one.string.utf16.lexicographicallyPrecedes(other.string.utf16)
    }
    let (one, other) = (one.rawBytes, other.rawBytes)
    for index in 0..<min(one.count, other.count) where one[index] != other[index] {
      return one[index] < other[index]
    }
    return one.count < other.count
  }

  private static func isPlain(_ key: JSONKey) -> Bool {
    !key.isEscaped && key.rawBytes.allSatisfy { $0 < 0x80 }
  }
}
