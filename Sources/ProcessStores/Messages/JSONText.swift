// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A JSON value as text that is passed on and not read.
struct JSONText: Hashable, Sendable {
  /// Valid JSON in UTF-8.
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static let null = JSONText(Array("null".utf8))
}

extension JSONText: JSONReadable, JSONWritable {
  init(reading reader: inout JSONReader) throws(JSONError) {
    let range = try reader.skipValue()
    bytes = Array(reader.bytes(in: range))
  }

  func write(to writer: inout JSONWriter) { writer.verbatim(bytes) }
}

extension JSONText: Codable {
  init(from decoder: any Decoder) throws { bytes = try JSONValue(from: decoder).bytes }

  func encode(to encoder: any Encoder) throws {
    try JSONValue(parsing: bytes, limits: JSONLimits(maximumDepth: 1_000)).encode(to: encoder)
  }
}
