// SPDX-License-Identifier: Apache-2.0

// This code runs only after an error. Errors may be frequent where a type fails to decode many
// values, so the decoder of the whole text computes their paths (`DecodedText`).

/// The value or token that the reader expected.
@usableFromInline
enum Expectation: String {
  case object = "an object"
  case array = "an array"
  case string = "a string"
  case number = "a number"
  case bool = "true or false"
  case null = "null"
  case value = "a value"
  case word = "true, false or null"
  case digit = "a digit"
  case key = "a key"
  case colon = "a colon"
  case commaInObject = "a comma or the end of the object"
  case commaInArray = "a comma or the end of the array"
  case end = "the end of the text"

  /// True if it is a value of one kind; a value of another kind is then an error of type.
  var isKind: Bool {
    switch self {
    case .object, .array, .string, .number, .bool, .null: true
    default: false
    }
  }
}

extension JSONReader {
  /// Returns an error about the value at the current position, with its path (see
  /// `JSONError.path`).
  ///
  /// For types that read themselves and find a value that is not allowed.
  public func error(_ code: JSONError.Code, _ message: String) -> JSONError {
    fail(code, message, at: at)
  }

  /// Returns an error about the value that starts at an offset of the text, with its path (see
  /// `JSONError.path`).
  public func error(_ code: JSONError.Code, _ message: String, at offset: Int) -> JSONError {
    fail(code, message, at: offset)
  }

  /// Returns the error for a missing member; call it directly after `nextKey` has returned nil.
  public func missing(_ key: StaticString) -> JSONError {
    var error = JSONError(.missing, "a member is missing", offset: at, path: [.key("\(key)")])
    error.pathStart = .container
    if !leavesPaths {
      error.completePath { JSONPathElement.path(to: $0, in: text, ofContainer: $1) }
    }
    return error
  }

  /// Returns the error for an unknown tag; call it directly after the tag has been read.
  public func unknown(_ tag: JSONKey) -> JSONError {
    fail(.value, "unknown type \(tag.string.quoted())", at: max(at - 1, 0))
  }

  @inline(never)
  @usableFromInline
  func fail(_ code: JSONError.Code, _ message: String, at offset: Int) -> JSONError {
    var error = JSONError(code, message, offset: offset)
    error.pathStart = .value
    if !leavesPaths {
      error.completePath { JSONPathElement.path(to: $0, in: text, ofContainer: $1) }
    }
    return error
  }

  @inline(never)
  @usableFromInline
  func tooDeep() -> JSONError {
    fail(.depth, "arrays and objects nest deeper than \(maximumDepth)", at: at)
  }

  /// Returns the error for another value or token than the expected one.
  ///
  /// A well-formed value of another kind is an error of type; everything else is an error of
  /// syntax.
  @inline(never)
  @usableFromInline
  func unexpected(_ expectation: Expectation) -> JSONError {
    guard at < end else {
      return fail(.syntax, "the text ends before \(expectation.rawValue)", at: at)
    }
    var probe = self
    probe.depth = 0
    if expectation.isKind, (try? probe.skipValue()) != nil {
      return fail(.type, "expected \(expectation.rawValue), found \(foundName)", at: at)
    }
    if at == 0 && text.starts(with: [0xEF, 0xBB, 0xBF]) {
      return fail(.syntax, "the text starts with a byte order mark", at: at)
    }
    return fail(.syntax, "expected \(expectation.rawValue), found \(foundName)", at: at)
  }

  private var foundName: String {
    switch text[at] {
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "an array"
    case UInt8(ascii: "\""): "a string"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "true or false"
    case UInt8(ascii: "n"): "null"
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): "a number"
    case let byte where byte > 0x20 && byte < 0x7F: "'\(Character(UnicodeScalar(byte)))'"
    case let byte: "byte 0x\(String(byte, radix: 16))"
    }
  }
}
