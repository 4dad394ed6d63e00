// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// JSON with holes in it: what is expected of a message, or what a message is made from.
indirect enum Pattern: Sendable, Equatable {
  /// `"<_>"`, `"<_:kind>"`: any value, and it is not kept.
  case anything(Kind?)
  /// `"<name>"`, `"<name:kind>"`: the value of a name; the first one that is met becomes it.
  case named(String, Kind?)
  /// A string with values of names in it.
  case text([TextPart])
  /// Null, a truth value, a number or a string, as it is.
  case literal(JSONValue)
  case array([Pattern])
  /// `isOpen`: there may be further members (`"...": "..."`).
  case object([Member], isOpen: Bool)

  enum TextPart: Sendable, Equatable {
    case literal(String)
    case named(String)
  }

  struct Member: Sendable, Equatable {
    let key: String
    let pattern: Pattern
  }

  /// The names in it, in order, with repetitions.
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

/// What sort of value a placeholder stands for.
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

  /// RFC 9562 §4: 8-4-4-4-12 hexadecimal digits, of whatever version.
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
