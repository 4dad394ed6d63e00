// SPDX-License-Identifier: Apache-2.0

/// The elements of an array in order.
///
/// After an error the container is at the same element as before.
struct SequenceDecoding: UnkeyedDecodingContainer {
  private let text: DecodedText
  private let start: Int
  /// A reader before the next element, or after the array.
  private var reader: JSONReader
  private(set) var isAtEnd: Bool
  private(set) var currentIndex = 0

  /// The number of elements, counted at each access.
  ///
  /// - Complexity: O(length of the array).
  var count: Int? {
    var ahead = reader
    var count = currentIndex
    var isAtEnd = isAtEnd
    while !isAtEnd {
      guard (try? ahead.skipValue()) != nil, let more = try? ahead.nextElement() else { return nil }
      count += 1
      isAtEnd = !more
    }
    return count
  }

  var codingPath: [any CodingKey] { text.path(to: start).map(PathKey.init) }

  init(_ text: DecodedText, at offset: Int) throws(JSONError) {
    self.text = text
    start = offset
    (reader, isAtEnd) = try text.locating { () throws(JSONError) in
      var reader = text.reader(at: offset)
      try reader.beginArray()
      let hasElement = try reader.nextElement()
      return (reader, !hasElement)
    }
  }

  /// Returns the offset at which the next element starts.
  ///
  /// - Throws: `missing` if there is no next element.
  private mutating func next() throws(JSONError) -> Int {
    guard !isAtEnd else {
      throw JSONError(
        .missing, "an element is missing", offset: start,
        path: text.path(to: start) + [.index(currentIndex)])
    }
    return reader.nextValueOffset()
  }

  /// Continues after the element that `ahead` has read.
  private mutating func pass(_ ahead: JSONReader) throws(JSONError) {
    reader = ahead
    currentIndex += 1
    isAtEnd = try text.locating { () throws(JSONError) in try !reader.nextElement() }
  }

  /// Skips the next element.
  private mutating func pass() throws(JSONError) {
    var ahead = reader
    _ = try text.locating { () throws(JSONError) in try ahead.skipValue() }
    try pass(ahead)
  }

  private mutating func read<T: JSONReadable>(_ type: T.Type) throws(JSONError) -> T {
    _ = try next()
    var ahead = reader
    let value = try text.locating { () throws(JSONError) in try T(reading: &ahead) }
    try pass(ahead)
    return value
  }
}

// MARK: - Nesting

extension SequenceDecoding {
  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    let object = try DecodedObject(text, at: next())
    try pass()
    return KeyedDecodingContainer(KeyedDecoding(text: text, object: object, isPayload: false))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let nested = try SequenceDecoding(text, at: next())
    try pass()
    return nested
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = TextDecoder(text: text, offset: try next())
    try pass()
    return decoder
  }
}

// MARK: - Values

extension SequenceDecoding {
  mutating func decodeNil() throws -> Bool {
    guard text.isNull(at: try next()) else { return false }
    try pass()
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let offset = try next()
    if let direct = type as? any JSONReadable.Type {
      // The cast cannot fail: `direct` is `T`, and `read` returns a value of the type that it is
      // given.
      return try read(direct) as! T
    }
    let value = try text.decodeCodable(type, at: offset)
    try pass()
    return value
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try read(type) }

  mutating func decode(_ type: String.Type) throws -> String { try read(type) }

  mutating func decode(_ type: Double.Type) throws -> Double { try read(type) }

  mutating func decode(_ type: Float.Type) throws -> Float { try read(type) }

  mutating func decode(_ type: Int.Type) throws -> Int { try read(type) }

  mutating func decode(_ type: Int8.Type) throws -> Int8 { try read(type) }

  mutating func decode(_ type: Int16.Type) throws -> Int16 { try read(type) }

  mutating func decode(_ type: Int32.Type) throws -> Int32 { try read(type) }

  mutating func decode(_ type: Int64.Type) throws -> Int64 { try read(type) }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try read(type) }

  mutating func decode(_ type: UInt.Type) throws -> UInt { try read(type) }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) }

  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try read(type) }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try read(type) }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try read(type) }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try read(type) }
}
