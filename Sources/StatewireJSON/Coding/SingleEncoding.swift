// SPDX-License-Identifier: Apache-2.0

/// One value that is neither keyed nor a sequence.
struct SingleEncoding: SingleValueEncodingContainer, PlainEncoding {
  let encoder: TextEncoder
  var text: EncodedText { encoder.text }

  init(encoder: TextEncoder) { self.encoder = encoder }

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Makes sure that this is the one value to be written.
  func enter() throws(JSONError) {
    guard text.writer.count == encoder.start else { throw encoder.twice }
  }
}

// MARK: - The widest integers

// Here, since the standard library has a way of its own for a container that says nothing of them.
extension SingleEncoding {
  mutating func encode(_ value: Int128) throws {
    try enter()
    text.writer.integer(value)
  }

  mutating func encode(_ value: UInt128) throws {
    try enter()
    text.writer.integer(value)
  }
}
