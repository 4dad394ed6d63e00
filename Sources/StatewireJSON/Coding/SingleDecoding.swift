// SPDX-License-Identifier: Apache-2.0

/// One value that is neither keyed nor a sequence.
struct SingleDecoding: SingleValueDecodingContainer {
  let text: DecodedText
  let offset: Int

  var codingPath: [any CodingKey] { text.path(to: offset).map(PathKey.init) }

  func decodeNil() -> Bool { text.isNull(at: offset) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try text.decode(type, at: offset) }

  func decode(_ type: Bool.Type) throws -> Bool { try text.read(type, at: offset) }

  func decode(_ type: String.Type) throws -> String { try text.read(type, at: offset) }

  func decode(_ type: Double.Type) throws -> Double { try text.read(type, at: offset) }

  func decode(_ type: Float.Type) throws -> Float { try text.read(type, at: offset) }

  func decode(_ type: Int.Type) throws -> Int { try text.read(type, at: offset) }

  func decode(_ type: Int8.Type) throws -> Int8 { try text.read(type, at: offset) }

  func decode(_ type: Int16.Type) throws -> Int16 { try text.read(type, at: offset) }

  func decode(_ type: Int32.Type) throws -> Int32 { try text.read(type, at: offset) }

  func decode(_ type: Int64.Type) throws -> Int64 { try text.read(type, at: offset) }

  func decode(_ type: Int128.Type) throws -> Int128 { try text.read(type, at: offset) }

  func decode(_ type: UInt.Type) throws -> UInt { try text.read(type, at: offset) }

  func decode(_ type: UInt8.Type) throws -> UInt8 { try text.read(type, at: offset) }

  func decode(_ type: UInt16.Type) throws -> UInt16 { try text.read(type, at: offset) }

  func decode(_ type: UInt32.Type) throws -> UInt32 { try text.read(type, at: offset) }

  func decode(_ type: UInt64.Type) throws -> UInt64 { try text.read(type, at: offset) }

  func decode(_ type: UInt128.Type) throws -> UInt128 { try text.read(type, at: offset) }
}
