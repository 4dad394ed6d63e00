// SPDX-License-Identifier: Apache-2.0

/// One value that is neither keyed nor a sequence.
struct SingleEncoding: SingleValueEncodingContainer, PlainEncoding {
  let encoder: TextEncoder
  var text: EncodedText { encoder.text }

  init(encoder: TextEncoder) { self.encoder = encoder }

  var codingPath: [any CodingKey] { encoder.codingPath }

  /// Throws if a value has been written already.
  func enter() throws(JSONError) {
    guard text.writer.count == encoder.start else { throw encoder.twice }
  }
}

// MARK: - The widest integers

// Implemented in the type, because the standard library has default implementations of these
// methods, which would compete with those of `PlainEncoding`.
extension SingleEncoding {
  mutating func encode(_ value: Int128) throws {
    try enter()
    value.write(to: &text.writer)
  }

  mutating func encode(_ value: UInt128) throws {
    try enter()
    value.write(to: &text.writer)
  }
}
