// SPDX-License-Identifier: Apache-2.0

/// The text that one call of `JSON.decode` reads, shared by its decoder and containers.
///
/// The whole text is checked before any value of it is decoded, so containers may read it in any
/// order. A value is identified by the offset at which it starts. Its path is computed from that
/// offset only when it is needed.
final class DecodedText {
  let bytes: UnsafeRawBufferPointer
  let limits: JSONLimits

  /// The search for paths, kept between errors because a type may fail to decode many values.
  private var paths = PathSearch()

  /// The offset after the document's object, set when its members have been found.
  var rootEnd: Int?

  /// The last object whose keys were requested by a type whose keys are cases: the offset at which
  /// it starts, and whether it has a known tag. The code that Swift synthesizes for enums requests
  /// the keys first.
  var lastCases: (object: Int, isTagged: Bool)?

  private init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  static func decode<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer, limits: JSONLimits
  ) throws(JSONError) -> T {
    var reader = JSONReader(bytes, limits: limits)
    let value = try decode(type, reading: &reader)
    try reader.finish()
    return value
  }

  static func decode<T: Decodable>(
    _ type: T.Type, reading reader: inout JSONReader
  ) throws(JSONError) -> T {
    if let direct = type as? any JSONReadable.Type {
      // The cast cannot fail: `direct` is `T`, and an initializer returns a value of its own type.
      return try direct.init(reading: &reader) as! T
    }
    let start = reader.nextValueOffset()
    try reader.skipValue()
    let text = DecodedText(reader.text, limits: JSONLimits(maximumDepth: Int(reader.maximumDepth)))
    do {
      return try text.decodeCodable(type, at: start)
    } catch let error as JSONError {
      throw error
    } catch let error as DecodingError {
      throw text.translate(error)
    } catch {
      throw JSONError(.value, String(describing: error).shortened)
    }
  }

  /// Decodes the value that starts at an offset.
  func decode<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
    if let direct = type as? any JSONReadable.Type {
      // The cast cannot fail: `direct` is `T`, as above.
      return try read(direct, at: offset) as! T
    }
    return try decodeCodable(type, at: offset)
  }

  /// Decodes the value that starts at an offset, of a type that does not read itself.
  func decodeCodable<T: Decodable>(_ type: T.Type, at offset: Int) throws -> T {
    let decoder = TextDecoder(text: self, offset: offset)
    if StandardForms.contains(type), let standard = type as? any StandardDecoding.Type {
      // The cast cannot fail: `standard` is `T`, and `decodeForm` returns a value of its own type.
      return try standard.decodeForm(from: decoder) as! T
    }
    if isLongText(at: offset) { try checkName(type, at: offset) }
    return try T(from: decoder)
  }

  /// Returns true if the value that starts at an offset is a string that may not be stream-safe.
  private func isLongText(at offset: Int) -> Bool {
    guard bytes[offset] == UInt8(ascii: "\"") else { return false }
    var reader = reader(at: offset)
    return (try? reader.readStringBytes())?.isStreamSafe == false
  }

  /// Checks that the value that starts at an offset, which is not stream-safe, is not the name of a
  /// case: to compare it with the names would take long.
  private func checkName<T>(_ type: T.Type, at offset: Int) throws(JSONError) {
    func isName<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
      Raw.RawValue.self is String.Type
    }
    guard let raw = type as? any RawRepresentable.Type, isName(raw) else { return }
    throw JSONError(
      .value, "a name has more than 30 marks in a row", offset: offset, path: path(to: offset))
  }

  /// Reads the value that starts at an offset, of a type that reads itself.
  func read<T: JSONReadable>(_ type: T.Type, at offset: Int) throws(JSONError) -> T {
    try locating { () throws(JSONError) in
      var reader = reader(at: offset)
      return try T(reading: &reader)
    }
  }

  /// Returns a reader of the value that starts at an offset; use it within `locating`.
  func reader(at offset: Int) -> JSONReader {
    var reader = JSONReader(bytes, at: offset, limits: limits)
    reader.leavesPaths = true
    return reader
  }

  /// Calls `body`, which uses readers of this text, and adds the path to an error that it throws.
  @inline(__always)
  func locating<Value>(
    _ body: () throws(JSONError) -> Value
  ) throws(JSONError) -> Value {
    do throws(JSONError) {
      return try body()
    } catch {
      throw located(error)
    }
  }

  @inline(never)
  private func located(_ error: JSONError) -> JSONError {
    var error = error
    error.completePath { paths.path(to: $0, in: bytes, ofContainer: $1) }
    return error
  }

  func isNull(at offset: Int) -> Bool { bytes[offset] == UInt8(ascii: "n") }

  func path(to offset: Int) -> [JSONPathElement] {
    paths.path(to: offset, in: bytes)
  }
}

/// A decoder of the value that starts at an offset.
struct TextDecoder: Decoder {
  let text: DecodedText
  let offset: Int

  var codingPath: [any CodingKey] { text.path(to: offset).map(PathKey.init) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(
      KeyedDecoding(text: text, object: try DecodedObject(text, at: offset), isPayload: false))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try SequenceDecoding(text, at: offset)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleDecoding(text: text, offset: offset)
  }
}

/// A path element as a `CodingKey`.
struct PathKey: CodingKey {
  let element: JSONPathElement

  init(_ element: JSONPathElement) { self.element = element }
  init(stringValue: String) { element = .key(stringValue) }
  init(intValue: Int) { element = .index(intValue) }

  var stringValue: String { element.token }
  var intValue: Int? { if case .index(let index) = element { index } else { nil } }
}
