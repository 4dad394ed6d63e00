// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
  /// Writes `null`.
  @inlinable
  public mutating func null() { word("null") }

  /// Writes `true` or `false`.
  @inlinable
  public mutating func value(_ value: Bool) {
    if value { word("true") } else { word("false") }
  }

  @inlinable
  @inline(__always)
  mutating func word(_ word: StaticString) {
    separate()
    literal(word)
    needsComma = true
  }

  /// Writes an integer.
  @inlinable
  public mutating func value(_ value: Int) { integer(Int64(value)) }

  /// Writes an integer.
  @inlinable
  public mutating func value(_ value: Int64) { integer(value) }

  /// Writes an integer.
  @inlinable
  public mutating func value(_ value: UInt64) { integer(value) }

  /// Writes an integer of any size.
  @inlinable
  mutating func integer<T: FixedWidthInteger>(_ value: T) {
    if let small = Int64(exactly: value) {
      integer(small)
    } else if let large = UInt64(exactly: value) {
      integer(large)
    } else {
      separate()
      string(unescaped: String(value))
    }
  }

  @usableFromInline
  mutating func integer(_ value: Int64) {
    digits(value.magnitude, isNegative: value < 0)
  }

  @usableFromInline
  mutating func integer(_ value: UInt64) {
    digits(value, isNegative: false)
  }

  private mutating func digits(_ magnitude: UInt64, isNegative: Bool) {
    separate()
    needsComma = true
    if magnitude < 10 && !isNegative {
      append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude))
      return
    }
    var length = isNegative ? 2 : 1
    var rest = magnitude
    while rest >= 10_000 {
      length &+= 4
      rest /= 10_000
    }
    length &+= rest >= 1000 ? 3 : rest >= 100 ? 2 : rest >= 10 ? 1 : 0
    let room = room(length)
    room[0] = UInt8(ascii: "-")
    // The lowest digits are written first, two at a time.
    rest = magnitude
    var offset = length
    while rest >= 10 {
      let quotient = rest / 100
      offset &-= 2
      let pair = Int(truncatingIfNeeded: rest &- quotient &* 100) &* 2
      room[offset] = Self.pairs.utf8Start[pair]
      room[offset &+ 1] = Self.pairs.utf8Start[pair &+ 1]
      rest = quotient
    }
    if offset > (isNegative ? 1 : 0) {
      room[offset &- 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest)
    }
    advance(by: length)
  }

  /// The numbers from 00 to 99.
  private static var pairs: StaticString {
    """
    00010203040506070809101112131415161718192021222324252627282930313233343536373839\
    40414243444546474849505152535455565758596061626364656667686970717273747576777879\
    8081828384858687888990919293949596979899
    """
  }

  /// Writes a `Double` in its shortest form.
  ///
  /// JSON has no infinities and no NaN: they are written as `null`. The encoder rejects them.
  public mutating func value(_ value: Double) {
    guard value.isFinite else { return null() }
    if let integer = Int64(exactly: value), integer.magnitude < 1 << 53, integer != 0 {
      return self.integer(integer)
    }
    separate()
    string(unescaped: NumberText.shortest(value))
  }

  /// Writes a `Float` in its shortest form, which is shorter than that of the same `Double`.
  public mutating func value(_ value: Float) {
    guard value.isFinite else { return null() }
    separate()
    string(unescaped: NumberText.shortest(value))
  }

  /// Writes a string.
  @inlinable
  public mutating func value(_ value: String) {
    separate()
    string(value)
  }

  // Disfavored so that a literal with such characters is written by the overload for `String`.
  /// Writes a literal string.
  ///
  /// - Precondition: The literal contains no characters that JSON requires to be escaped.
  @_disfavoredOverload
  @inlinable
  @inline(__always)
  public mutating func value(_ value: StaticString) {
    quoted(value)
    needsComma = true
  }

  /// Writes a number as it was read.
  public mutating func value(_ value: JSONNumber) {
    switch value.storage {
    case .signed(let value): integer(value)
    case .unsigned(let value): integer(value)
    case .text(let text):
      separate()
      string(unescaped: text)
    }
  }

  /// Writes a tree.
  public mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): self.value(value)
    case .number(let value): self.value(value)
    case .string(let value): self.value(value)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let object):
      beginObject()
      for (key, member) in object {
        self.key(key)
        self.value(member)
      }
      endObject()
    }
  }

  /// Writes a value of a type that writes itself.
  public mutating func value<T: JSONWritable>(_ value: T) {
    value.place(in: &self)
  }

  /// Writes a value of a type that writes itself, or `null` for nil.
  public mutating func value<T: JSONWritable>(_ value: T?) {
    if let value { self.value(value) } else { null() }
  }

  /// Writes the text of one value without changes, with a comma before it if one is needed.
  ///
  /// - Precondition: `bytes` is one valid value.
  @inlinable
  public mutating func verbatim(_ bytes: UnsafeRawBufferPointer) {
    separate()
    append(bytes)
    needsComma = true
  }

  /// Writes the text of one value without changes, with a comma before it if one is needed.
  ///
  /// - Precondition: `bytes` is one valid value.
  @inlinable
  public mutating func verbatim(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { verbatim($0) }
  }
}
