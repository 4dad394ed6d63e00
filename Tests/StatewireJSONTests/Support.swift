// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

/// Skips the only value of a text.
func skip(_ bytes: [UInt8], limits: JSONLimits = .init()) throws(JSONError) {
  try bytes.span.withUnsafeBytes { bytes throws(JSONError) in
    var reader = JSONReader(bytes, limits: limits)
    try reader.skipValue()
    try reader.finish()
  }
}

/// Returns the text that `body` writes.
func written(_ body: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter()
  body(&writer)
  return writer.string()
}

extension [UInt8] {
  /// The bytes as text.
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// Checks that a value is unchanged after encoding and decoding, as text and as a tree.
func check<T: Codable & Equatable>(_ value: T) throws {
  let bytes = try JSON.encode(value)
  #expect(try JSON.decode(T.self, from: bytes) == value, "\(bytes.text)")
  #expect(try JSON.decode(T.self, from: JSON.value(value)) == value, "\(bytes.text)")
  #expect(try bytes.withUnsafeBytes { try JSON.decode(T.self, from: $0) } == value)
}
