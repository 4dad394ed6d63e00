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
  /// - Precondition: The literal contains no characters that JSON requires to be escaped.
  @inlinable
  @inline(__always)
  public mutating func key(_ key: StaticString) {
    assert(key.isPlain, "a literal must not need escapes")
    guard key.hasPointerRepresentation else { return self.key("\(key)") }
    let count = key.utf8CodeUnitCount
    // One reservation for a comma, the quotation marks and the colon.
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

  /// Writes a literal in quotation marks, with a comma before it if one is needed.
  @inlinable
  @inline(__always)
  mutating func quoted(_ literal: StaticString) {
    assert(literal.isPlain, "a literal must not need escapes")
    separate()
    append(UInt8(ascii: "\""))
    self.literal(literal)
    append(UInt8(ascii: "\""))
  }

  // Disfavored so that literals use the faster overload above.
  /// Writes a key and its colon.
  @_disfavoredOverload
  public mutating func key(_ key: String) {
    separate()
    string(key)
    append(UInt8(ascii: ":"))
    needsComma = false
  }
}
