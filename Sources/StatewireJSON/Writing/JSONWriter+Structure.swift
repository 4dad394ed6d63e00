// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
  @inlinable
  @inline(__always)
  mutating func separate() {
    if needsComma { append(UInt8(ascii: ",")) }
  }

  /// Writes the `{` of an object.
  @inlinable
  @inline(__always)
  public mutating func beginObject() {
    separate()
    append(UInt8(ascii: "{"))
    needsComma = false
  }

  /// Writes the `}` of an object.
  @inlinable
  @inline(__always)
  public mutating func endObject() {
    append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// Writes the `[` of an array.
  @inlinable
  @inline(__always)
  public mutating func beginArray() {
    separate()
    append(UInt8(ascii: "["))
    needsComma = false
  }

  /// Writes the `]` of an array.
  @inlinable
  @inline(__always)
  public mutating func endArray() {
    append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// Writes a key and its colon.
  ///
  /// - Precondition: the literal has nothing that JSON would want escaped.
  @inlinable
  @inline(__always)
  public mutating func key(_ key: StaticString) {
    assert(key.isPlain, "a literal is written as it is")
    guard key.hasPointerRepresentation else { return self.key("\(key)") }
    let count = key.utf8CodeUnitCount
    // All at once: a comma, the marks and the colon.
    guard var end = room(count &+ 4).baseAddress else { return }
    if needsComma {
      end.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
      end += 1
      advance(by: 1)
    }
    end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    end.advanced(by: 1).copyMemory(from: key.utf8Start, byteCount: count)
    end.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count &+ 1, as: UInt8.self)
    end.storeBytes(of: UInt8(ascii: ":"), toByteOffset: count &+ 2, as: UInt8.self)
    advance(by: count &+ 3)
    needsComma = false
  }

  /// Writes a literal in quotation marks, after a comma where one is due.
  @inlinable
  @inline(__always)
  mutating func quoted(_ literal: StaticString) {
    assert(literal.isPlain, "a literal is written as it is")
    separate()
    append(UInt8(ascii: "\""))
    self.literal(literal)
    append(UInt8(ascii: "\""))
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
