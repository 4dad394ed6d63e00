// SPDX-License-Identifier: Apache-2.0

/// A strict pull reader of JSON text (RFC 8259).
///
/// The caller reads the expected values in the order of the text. Every method that reads a value
/// skips the white space before it and ends directly after the value. After an error the reader
/// must not be used again. Between `beginObject` and the nil of `nextKey`, the caller reads exactly
/// one value after every key; likewise one element after every true of `nextElement`.
///
/// For every input, the reader never reads beyond the bytes, never traps, and recurses no deeper
/// than its limits allow.
///
/// The reader does not own the bytes and is valid only as long as their buffer.
public struct JSONReader {
  @usableFromInline let text: UnsafeRawBufferPointer
  @usableFromInline var at: Int
  // Small, because readers are copied often.
  @usableFromInline let maximumDepth: Int32
  @usableFromInline var depth: Int32 = 0
  /// True if the innermost container has been opened and nothing in it has been read.
  @usableFromInline var isFresh = false
  /// True if the text is one value and nothing else.
  @usableFromInline var isOneValue = false
  /// True if the creator of the reader adds the paths of errors (`DecodedText.located`).
  @usableFromInline var leavesPaths = false

  /// Creates a reader at the first byte.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits = .init()) {
    self.init(bytes, at: 0, limits: limits)
  }

  /// Creates a reader of the value that starts at an offset; paths of errors start at the first
  /// byte.
  @inlinable
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int, limits: JSONLimits) {
    text = bytes
    at = offset
    maximumDepth = Int32(clamping: limits.maximumDepth)
  }

  /// Creates a reader in the middle of a text.
  @inlinable
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int, depth: Int32, maximumDepth: Int32) {
    text = bytes
    at = offset
    self.depth = depth
    self.maximumDepth = maximumDepth
  }

  /// Creates a reader of a value that was cut out of a longer text.
  ///
  /// - Parameters:
  ///   - bytes: The supposed value; `finishIfOneValue` checks that it is exactly one value.
  ///   - depth: The number of containers around it in the longer text.
  ///   - limits: The limits of the longer text.
  public init(oneValue bytes: UnsafeRawBufferPointer, depth: Int, limits: JSONLimits) {
    self.init(bytes, at: 0, limits: limits)
    self.depth = Int32(clamping: depth)
    isOneValue = true
  }

  @inlinable
  var end: Int { text.count }

  /// The offset of the next byte to be read.
  @inlinable
  public var position: Int { at }

  /// The number of bytes from that offset to the end.
  @inlinable
  public var remainingBytes: Int { end - at }

  /// Returns the bytes of a range of the text, such as a range that `skipValue` returned.
  ///
  /// - Precondition: The range lies within the text.
  @inlinable
  public func bytes(in range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= end)
    return text.part(range)
  }

  @inlinable
  mutating func skipSpace() {
    while at < end {
      let byte = text[at]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
        return
      }
      at &+= 1
    }
  }

  /// Skips white space and returns the next byte; 0 at the end, because no value starts with 0.
  @inlinable
  @inline(__always)
  mutating func nextByte() -> UInt8 {
    // Compact text has no white space.
    if at < end, text[at] > 0x20 { return text[at] }
    skipSpace()
    return at < end ? text[at] : 0
  }
}

/// The kind of a value.
public enum JSONKind: Sendable, Hashable {
  /// The kinds of JSON values; `bool` is true or false.
  case object, array, string, number, bool, null
}

// MARK: - Structure

extension JSONReader {
  /// Returns the kind of the next value without reading it.
  ///
  /// - Throws: `syntax` at the end of the text or if no value starts here.
  @inlinable
  public mutating func peek() throws(JSONError) -> JSONKind {
    switch nextByte() {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw unexpected(.value)
    }
  }

  /// Reads the `{` of an object.
  ///
  /// - Throws: `type` for another value, `depth` if objects and arrays nest too deep.
  @inlinable
  public mutating func beginObject() throws(JSONError) {
    guard nextByte() == UInt8(ascii: "{") else { throw unexpected(.object) }
    try open()
  }

  /// Reads the `[` of an array.
  ///
  /// - Throws: `type` for another value, `depth` if objects and arrays nest too deep.
  @inlinable
  public mutating func beginArray() throws(JSONError) {
    guard nextByte() == UInt8(ascii: "[") else { throw unexpected(.array) }
    try open()
  }

  @inlinable
  mutating func open() throws(JSONError) {
    guard depth < maximumDepth else { throw tooDeep() }
    depth &+= 1
    at &+= 1
    isFresh = true
  }

  /// Reads the next key and its colon.
  ///
  /// - Returns: Nil once the `}` that ends the object has been read.
  /// - Throws: `syntax` or `utf8`.
  public mutating func nextKey() throws(JSONError) -> JSONKey? {
    // The usual case: a plain key without white space.
    if at < end, isFresh || text[at] == UInt8(ascii: ",") {
      let quote = isFresh ? at : at &+ 1
      if quote < end, text[quote] == UInt8(ascii: "\"") {
        let plainEnd = plainStringEnd(from: quote &+ 1)
        if plainEnd >= 0, plainEnd < end, text[plainEnd] == UInt8(ascii: ":") {
          isFresh = false
          at = plainEnd &+ 1
          return JSONKey(
            rawBytes: text.part(from: quote &+ 1, to: plainEnd &- 1), isEscaped: false)
        }
      }
    }
    return try nextKeyStrictly()
  }

  private mutating func nextKeyStrictly() throws(JSONError) -> JSONKey? {
    var byte = nextByte()
    if byte == UInt8(ascii: "}") {
      close()
      return nil
    }
    if isFresh {
      isFresh = false
    } else {
      guard byte == UInt8(ascii: ",") else { throw unexpected(.commaInObject) }
      at &+= 1
      byte = nextByte()
    }
    guard byte == UInt8(ascii: "\"") else { throw unexpected(.key) }
    let key = try scanString()
    guard nextByte() == UInt8(ascii: ":") else { throw unexpected(.colon) }
    at &+= 1
    return key
  }

  /// Reads the comma before the next element, or the `]` that ends the array.
  ///
  /// - Returns: False once the `]` has been read.
  /// - Throws: `syntax`.
  @inlinable
  public mutating func nextElement() throws(JSONError) -> Bool {
    let byte = nextByte()
    if byte == UInt8(ascii: "]") {
      close()
      return false
    }
    if isFresh {
      isFresh = false
    } else {
      guard byte == UInt8(ascii: ",") else { throw unexpected(.commaInArray) }
      at &+= 1
    }
    return true
  }

  @inlinable
  mutating func close() {
    at &+= 1
    depth &-= 1
    isFresh = false
  }

  /// Checks that only white space follows.
  ///
  /// - Throws: `syntax` if there is more text.
  @inlinable
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard at == end else { throw unexpected(.end) }
  }

  /// True if the reader was created with `init(oneValue:depth:limits:)`.
  public var expectsOneValue: Bool { isOneValue }

  /// Checks that only white space follows if the reader was created with
  /// `init(oneValue:depth:limits:)`; does nothing otherwise.
  ///
  /// - Throws: `syntax` if there is more text.
  @inlinable
  public mutating func finishIfOneValue() throws(JSONError) {
    if isOneValue { try finish() }
  }
}
