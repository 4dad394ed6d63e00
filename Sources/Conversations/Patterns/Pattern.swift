// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// JSON with placeholders: an expected message, or a message to send.
indirect enum Pattern: Sendable, Equatable {
  /// `"<_>"`, `"<_:kind>"`: any value, without a name.
  case anything(Kind?)
  /// `"<name>"`, `"<name:kind>"`: the value of a name. The first value that matches is bound to it.
  case named(String, Kind?)
  /// A string that contains names.
  case text([TextPart])
  /// Null, a Boolean, a number or a string.
  case literal(JSONValue)
  case array([Pattern])
  /// An object. If `isOpen` is true there may be further members (`"...": "..."`).
  case object([Member], isOpen: Bool)

  enum TextPart: Sendable, Equatable {
    case literal(String)
    case named(String)
  }

  struct Member: Sendable, Equatable {
    let key: String
    let pattern: Pattern
  }

  /// The names in the pattern, in order, with repetitions.
  var names: [String] {
    switch self {
    case .anything, .literal: []
    case .named(let name, _): [name]
    case .text(let parts): parts.compactMap { if case .named(let name) = $0 { name } else { nil } }
    case .array(let elements): elements.flatMap(\.names)
    case .object(let members, _): members.flatMap(\.pattern.names)
    }
  }
}

/// The kind of value that a placeholder matches.
enum Kind: String, Sendable, CaseIterable {
  case string, number, integer, boolean, array, object, uuid

  func includes(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.string, .string), (.number, .number), (.boolean, .bool), (.array, .array),
      (.object, .object):
      true
    case (.integer, .number(let number)): number.integer(Int64.self) != nil || number.isUnsigned
    case (.uuid, .string(let text)): Self.isUUID(text)
    default: false
    }
  }

  /// Returns true for 8-4-4-4-12 hexadecimal digits, of any UUID version.
  ///
  /// - Source: RFC 9562 §4.
  private static func isUUID(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 36
      && bytes.enumerated().allSatisfy { index, byte in
        switch index {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default:
          LineCursor.isDigit(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
      }
  }
}

extension JSONNumber {
  fileprivate var isUnsigned: Bool { integer(UInt64.self) != nil }
}
