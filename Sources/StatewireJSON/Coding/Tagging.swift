// SPDX-License-Identifier: Apache-2.0

/// The form of an enum with payloads on the wire: `{"type": case, field: value, …}`.
///
/// Swift synthesizes two nested objects, `{case: {field: value, …}}`. Both coders recognize
/// synthesized code by its calls: it opens a keyed container whose keys are the cases, and then a
/// nested container for the current case before anything else.
package enum Tagging {
  /// The member that names the case.
  static let tag = "type"

  // Inlined, so that a caller that makes keys looks up the type of optional keys once.
  /// Returns true if a key type has a fixed set of keys, one for each case or field. The keys of a
  /// dictionary accept any name, so a dictionary is never taken for an enum.
  @inline(__always)
  static func isClosed<Key: CodingKey>(_ type: Key.Type) -> Bool {
    Key(stringValue: "") == nil
  }

  /// Returns the wire name of a payload's field: `type` is reserved, so it becomes `_type`, and
  /// `_type` becomes `__type`.
  package static func wireName(ofField name: String) -> String {
    isTaken(name) ? "_" + name : name
  }

  /// Returns the field with a wire name; nil for the tag.
  static func field(wireName name: String) -> String? {
    guard isTaken(name) else { return name }
    return name.utf8.first == UInt8(ascii: "_") ? String(name.dropFirst()) : nil
  }

  private static func isTaken(_ name: String) -> Bool {
    name.withUTF8Bytes { bytes in
      // The last byte is checked first, because it excludes most names.
      let count = bytes.count
      guard count >= 4, bytes[count - 1] == UInt8(ascii: "e") else { return false }
      return bytes.dropFirst(count - 4).elementsEqual(tag.utf8)
        && bytes.dropLast(4).allSatisfy { $0 == UInt8(ascii: "_") }
    }
  }
}
