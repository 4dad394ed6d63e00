// SPDX-License-Identifier: Apache-2.0

/// A JSON Pointer (RFC 6901): the path from a document to one of its values.
public struct JSONPointer: Sendable, Hashable {
  /// The reference tokens without escapes, outermost first; an empty array denotes the whole
  /// document.
  public var tokens: [String]

  /// Creates a pointer of reference tokens without escapes, outermost first.
  public init(_ tokens: [String]) { self.tokens = tokens }

  /// Reads the text form: empty, or tokens that each start with `/`; `~0` is `~` and `~1` is `/`.
  ///
  /// - Throws: `JSONError` with the code `pointer` for any other text.
  /// - Source: RFC 6901 §3.
  public init(parsing text: String) throws(JSONError) {
    guard let tokens = text.withUTF8Bytes({ Self.tokens(of: $0) }) else { throw Self.invalid(text) }
    self.tokens = tokens
  }

  /// Reads the text form.
  init(parsing text: JSONKey) throws(JSONError) {
    guard let tokens = text.withBytes({ Self.tokens(of: $0) }) else {
      throw Self.invalid(text.string)
    }
    self.tokens = tokens
  }

  private static func invalid(_ text: String) -> JSONError {
    JSONError(
      .pointer,
      text.utf8.first == slash
        ? "the pointer \(text.quoted()) has a ~ without 0 or 1"
        : "the pointer \(text.quoted()) does not start with a slash")
  }

  /// - Returns: Nil if the text is not a pointer.
  private static func tokens(of text: UnsafeRawBufferPointer) -> [String]? {
    guard !text.isEmpty else { return [] }
    guard text[0] == slash else { return nil }
    var tokens: [String] = []
    // Most pointers have few tokens.
    tokens.reserveCapacity(4)
    var start = 1
    for end in 1...text.count where end == text.count || text[end] == slash {
      guard let token = token(text.part(from: start, to: end)) else { return nil }
      tokens.append(token)
      start = end + 1
    }
    return tokens
  }

  private static func token(_ text: UnsafeRawBufferPointer) -> String? {
    guard text.contains(UInt8(ascii: "~")) else { return String(decoding: text, as: UTF8.self) }
    var token: [UInt8] = []
    var bytes = text[...]
    while let byte = bytes.popFirst() {
      if byte != UInt8(ascii: "~") {
        token.append(byte)
        continue
      }
      switch bytes.popFirst() {
      case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): token.append(slash)
      default: return nil
      }
    }
    return String(decoding: token, as: UTF8.self)
  }

  private static let slash = UInt8(ascii: "/")

  /// Returns the index that a token denotes in an array with this many elements; nil if it denotes
  /// none.
  ///
  /// - Source: RFC 6901 §4: digits without a leading zero, and nothing else.
  package static func index(_ token: String, count: Int) -> Int? {
    token.withUTF8Bytes { digits in
      guard 1...18 ~= digits.count, digits[0] != 0x30 || digits.count == 1 else { return nil }
      var index = 0
      for digit in digits {
        guard 0x30...0x39 ~= digit else { return nil }
        index = index &* 10 &+ Int(digit &- 0x30)
      }
      return index < count ? index : nil
    }
  }
}

extension JSONPointer: CustomStringConvertible {
  /// The text form, with escapes.
  public var description: String {
    var text: [UInt8] = []
    for token in tokens {
      text.append(UInt8(ascii: "/"))
      for byte in token.utf8 {
        switch byte {
        case UInt8(ascii: "~"): text += [UInt8(ascii: "~"), UInt8(ascii: "0")]
        case UInt8(ascii: "/"): text += [UInt8(ascii: "~"), UInt8(ascii: "1")]
        default: text.append(byte)
        }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension JSONPointer {
  /// Returns true if all tokens have the same UTF-8 bytes.
  public static func == (one: JSONPointer, other: JSONPointer) -> Bool {
    one.tokens.elementsEqual(other.tokens) { $0.hasSameBytes(as: $1) }
  }

  /// Hashes the UTF-8 bytes of the tokens.
  public func hash(into hasher: inout Hasher) {
    for token in tokens {
      token.withUTF8Bytes { hasher.combine(bytes: $0) }
      hasher.combine(0 as UInt8)
    }
  }
}

extension JSONValue {
  /// The value at a pointer; nil if there is none.
  ///
  /// - Complexity: O(number of tokens).
  public subscript(pointer: JSONPointer) -> JSONValue? {
    var value = self
    for token in pointer.tokens {
      switch value {
      case .object(let object):
        guard let member = object[token] else { return nil }
        value = member
      case .array(let elements):
        guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
        value = elements[index]
      default:
        return nil
      }
    }
    return value
  }
}
