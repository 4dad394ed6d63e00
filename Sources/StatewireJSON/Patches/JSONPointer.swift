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
    let tokens = text.withUTF8Bytes { bytes in Self.tokens(of: bytes) }
    guard let tokens else {
      throw JSONError(
        .pointer,
        text.utf8.first == Self.slash
          ? "the pointer \(text.quoted()) has a ~ without 0 or 1"
          : "the pointer \(text.quoted()) does not start with a slash")
    }
    self.tokens = tokens
  }

  /// - Returns: Nil if the text is not a pointer.
  private static func tokens(of text: UnsafeRawBufferPointer) -> [String]? {
    guard let first = text.first else { return [] }
    guard first == slash else { return nil }
    var tokens: [String] = []
    tokens.reserveCapacity(text.reduce(0) { $1 == slash ? $0 + 1 : $0 })
    var start = 1
    while start <= text.count {
      let end = text[start...].firstIndex(of: slash) ?? text.count
      guard let token = token(text.part(start..<end)) else { return nil }
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
    let digits = token.utf8
    guard let first = digits.first, digits.count <= 18,
      digits.allSatisfy({ (0x30...0x39).contains($0) }), first != 0x30 || digits.count == 1,
      let index = Int(token), index < count
    else { return nil }
    return index
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
