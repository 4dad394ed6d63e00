// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
  @inlinable
  mutating func separate() {
    if needsComma { append(UInt8(ascii: ",")) }
  }

  /// Writes the `{` of an object.
  @inlinable
  public mutating func beginObject() {
    separate()
    append(UInt8(ascii: "{"))
    needsComma = false
  }

  /// Writes the `}` of an object.
  @inlinable
  public mutating func endObject() {
    append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// Writes the `[` of an array.
  @inlinable
  public mutating func beginArray() {
    separate()
    append(UInt8(ascii: "["))
    needsComma = false
  }

  /// Writes the `]` of an array.
  @inlinable
  public mutating func endArray() {
    append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// Writes a key and its colon.
  ///
  /// - Precondition: the literal has nothing that JSON would want escaped.
  @inlinable
  public mutating func key(_ key: StaticString) {
    assert(key.isPlain, "a literal key is written as it is")
    quoted(key, isKey: true)
    needsComma = false
  }

  /// Writes a literal in quotation marks, after a comma where one is due; behind a key a colon.
  @usableFromInline
  mutating func quoted(_ literal: StaticString, isKey: Bool) {
    literal.withUTF8Buffer { bytes in
      let count = bytes.count
      let room = room(count &+ 4)
      var offset = 0
      if needsComma {
        room[0] = UInt8(ascii: ",")
        offset = 1
      }
      room[offset] = UInt8(ascii: "\"")
      offset &+= 1
      for index in 0..<count { room[offset &+ index] = bytes[index] }
      offset &+= count
      room[offset] = UInt8(ascii: "\"")
      room[offset &+ 1] = UInt8(ascii: ":")
      advance(by: isKey ? offset &+ 2 : offset &+ 1)
    }
  }

  /// Writes a key and its colon.
  // Disfavored so that literals take the fast way above.
  @_disfavoredOverload
  public mutating func key(_ key: String) {
    separate()
    string(key)
    append(UInt8(ascii: ":"))
    needsComma = false
  }
}
