// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

/// Reads past the only value of a text.
func skip(_ bytes: [UInt8], limits: JSONLimits = .init()) throws(JSONError) {
  try bytes.span.withUnsafeBytes { bytes throws(JSONError) in
    var reader = JSONReader(bytes, limits: limits)
    try reader.skipValue()
    try reader.finish()
  }
}

/// The text of what `body` writes.
func written(_ body: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter()
  body(&writer)
  return writer.string()
}

extension [UInt8] {
  /// The bytes as text.
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// Numbers that are the same in every run with the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

/// Writes a value and reads it back, as text and as a tree.
func check<T: Codable & Equatable>(_ value: T) throws {
  let bytes = try JSON.encode(value)
  #expect(try JSON.decode(T.self, from: bytes) == value, "\(bytes.text)")
  #expect(try JSON.decode(T.self, from: JSON.value(value)) == value, "\(bytes.text)")
  #expect(try bytes.withUnsafeBytes { try JSON.decode(T.self, from: $0) } == value)
}
