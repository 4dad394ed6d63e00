// SPDX-License-Identifier: Apache-2.0

/// How an enum with payloads stands on the wire: `{"type": case, field: value, …}`.
///
/// Swift synthesizes a nesting of two objects, `{case: {field: value, …}}`. Both coders see through
/// that by how the synthesized code goes about it: it opens a keyed container whose keys are the
/// cases and in it, first thing, a nested one for the case at hand.
enum Tagging {
  /// The member that names the case.
  static let tag = "type"

  /// Whether a type of keys has one for every case or field and no others; dictionaries have keys
  /// of types that take any name, so they are never taken for enums.
  static func isClosed<Key: CodingKey>(_ type: Key.Type) -> Bool {
    Key(stringValue: "") == nil
  }

  /// What a field of a payload is called on the wire: `type` is taken, so it becomes `_type`, and in
  /// turn `_type` becomes `__type`.
  static func wireName(ofField name: String) -> String {
    isTaken(name) ? "_" + name : name
  }

  /// The field that a name on the wire stands for; nil for the tag.
  static func field(wireName name: String) -> String? {
    guard isTaken(name) else { return name }
    return name.utf8.first == UInt8(ascii: "_") ? String(name.dropFirst()) : nil
  }

  private static func isTaken(_ name: String) -> Bool {
    name.withUTF8Bytes { bytes in
      // The last byte is looked at first; few names get any further.
      let count = bytes.count
      guard count >= 4, bytes[count - 1] == UInt8(ascii: "e") else { return false }
      return bytes.dropFirst(count - 4).elementsEqual(tag.utf8)
        && bytes.dropLast(4).allSatisfy { $0 == UInt8(ascii: "_") }
    }
  }
}
