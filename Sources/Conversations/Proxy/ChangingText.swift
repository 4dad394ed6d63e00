// SPDX-License-Identifier: Apache-2.0

/// Texts of servers that differ in each run: identifiers and times.
///
/// - Source: Protocol/Conversations/README.md, "Recorded conversations"; the console of the server
///   has the same rules (`clients/console/conversation.js`).
enum ChangingText {
  /// Returns true if a text is a UUID, with or without its dashes.
  static func isUUID(_ text: String) -> Bool {
    uuidLength(at: Array(text.utf8)[...]) == text.utf8.count
  }

  /// Returns true if a text contains a date, such as `2021-06-02`, or a time, such as `9:41`.
  static func hasTime(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.indices.contains { index in
      matches(bytes[index...], "9:99") || matches(bytes[index...], "9999-99-99")
    }
  }

  /// Returns the parts of a text at its UUIDs, in order.
  static func parts(of text: String) -> [(text: String, isUUID: Bool)] {
    var parts: [(text: String, isUUID: Bool)] = []
    var plain: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      guard let length = uuidLength(at: rest), plain.last.map(isHexadecimal) != true else {
        plain.append(byte)
        rest.removeFirst()
        continue
      }
      if !plain.isEmpty { parts.append((String(decoding: plain, as: UTF8.self), false)) }
      plain = []
      parts.append((String(decoding: rest.prefix(length), as: UTF8.self), true))
      rest = rest.dropFirst(length)
    }
    if !plain.isEmpty { parts.append((String(decoding: plain, as: UTF8.self), false)) }
    return parts
  }

  /// Returns the length of the UUID at the start of bytes; nil if there is none.
  private static func uuidLength(at bytes: ArraySlice<UInt8>) -> Int? {
    for shape in ["hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"]
    where matches(bytes, shape) {
      let length = shape.utf8.count
      return bytes.dropFirst(length).first.map(isHexadecimal) == true ? nil : length
    }
    return nil
  }

  /// Compares the start of bytes with a shape: `9` is a digit, `h` a hexadecimal digit.
  private static func matches(_ bytes: ArraySlice<UInt8>, _ shape: String) -> Bool {
    guard bytes.count >= shape.utf8.count else { return false }
    return zip(bytes, shape.utf8).allSatisfy { byte, wanted in
      switch wanted {
      case UInt8(ascii: "9"): LineCursor.isDigit(byte)
      case UInt8(ascii: "h"): isHexadecimal(byte)
      default: byte == wanted
      }
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    LineCursor.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
}
