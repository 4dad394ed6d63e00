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
    separate()
    append(UInt8(ascii: "\""))
    raw(key)
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
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
