// SPDX-License-Identifier: Apache-2.0

/// A strict pull reader of JSON text (RFC 8259).
///
/// The caller asks for what it expects, in the order of the text. Every method that reads a value
/// skips the white space before it and stands right behind it afterwards; after an error the reader
/// must not be used any more. Between `beginObject` and the nil of `nextKey`, every key is followed
/// by exactly one value; likewise elements after `nextElement`.
///
/// Whatever the bytes are, the reader never reads beyond them and never traps, and it recurses no deeper than
/// its limits allow.
///
/// The bytes are not owned: a reader is valid only as long as the buffer it was made of.
public struct JSONReader {
  @usableFromInline let text: UnsafeRawBufferPointer
  @usableFromInline var at: Int
  // Small, since readers are copied often.
  @usableFromInline let maximumDepth: Int32
  @usableFromInline var depth: Int32 = 0
  /// Whether the innermost container has been opened and nothing of it read.
  @usableFromInline var isFresh = false
  /// Whether the text is one value and nothing else.
  @usableFromInline var isOneValue = false
  /// Whether errors get their paths from whoever has made the reader (`DecodedText.located`).
  @usableFromInline var leavesPaths = false

  /// A reader that stands at the first byte.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits = .init()) {
    self.init(bytes, at: 0, limits: limits)
  }

  /// A reader of the value that starts at an offset; errors still tell paths from the first byte.
  @inlinable
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int, limits: JSONLimits) {
    text = bytes
    at = offset
    maximumDepth = Int32(clamping: limits.maximumDepth)
  }

  /// A reader in the middle of a text.
  @inlinable
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int, depth: Int32, maximumDepth: Int32) {
    text = bytes
    at = offset
    self.depth = depth
    self.maximumDepth = maximumDepth
  }

  /// A reader of a value that makes up a text alone, taken out of a longer one.
  ///
  /// - Parameters:
  ///   - bytes: What is taken for the value; `finishIfOneValue` tells whether it was one.
  ///   - depth: In how many containers it stood.
  ///   - limits: What the longer text may have.
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

  /// How many bytes there are from there on.
  @inlinable
  public var remainingBytes: Int { end - at }

  /// The bytes of a range of the text, such as one that `skipValue` returned.
  ///
  /// - Precondition: the range lies within the text.
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

  /// Skips white space and tells which byte comes, 0 at the end (no value starts with that byte).
  @inlinable
  mutating func nextByte() -> UInt8 {
    skipSpace()
    return at < end ? text[at] : 0
  }
}

/// What sort of value comes next.
public enum JSONKind: Sendable, Hashable {
  case object, array, string, number, bool, null
}

// MARK: - Structure

extension JSONReader {
  /// Tells what comes next without reading it; an error at the end of the text.
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
  @inlinable
  public mutating func beginObject() throws(JSONError) {
    guard nextByte() == UInt8(ascii: "{") else { throw unexpected(.object) }
    try open()
  }

  /// Reads the `[` of an array.
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

  /// Reads the next key and its colon, or the `}` that ends the object: nil.
  public mutating func nextKey() throws(JSONError) -> JSONKey? {
    // As nearly every key comes: plain, without white space.
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

  /// Whether another element follows; false once the `]` that ends the array has been read.
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

  /// Makes sure that nothing but white space remains.
  @inlinable
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard at == end else { throw unexpected(.end) }
  }

  /// Makes sure that nothing is left of a text that is one value; nothing where there is more.
  @inlinable
  public mutating func finishIfOneValue() throws(JSONError) {
    if isOneValue { try finish() }
  }
}
