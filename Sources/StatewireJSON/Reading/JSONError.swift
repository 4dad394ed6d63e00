// SPDX-License-Identifier: Apache-2.0

/// An error about a JSON text, value or patch.
public struct JSONError: Error, Equatable, Sendable {
  /// The kind of error, for use by programs.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the kind.
    public var rawValue: String
    /// True if the value is well formed but exceeds a limit; `rawValue` is then the name of the
    /// limit.
    public let isLimit: Bool

    /// Creates the code of an error that is not about a limit.
    public init(rawValue: String) {
      self.rawValue = rawValue
      isLimit = false
    }

    /// Creates the code of a value that is well formed but exceeds a limit.
    ///
    /// - Parameter name: The name of the limit, for use by programs.
    public init(limit name: String) {
      rawValue = name
      isLimit = true
    }

    /// The text is not JSON.
    public static let syntax = Code(rawValue: "syntax")
    /// Arrays and objects nest deeper than the limits allow.
    public static let depth = Code(rawValue: "depth")
    /// The text is not UTF-8.
    public static let utf8 = Code(rawValue: "utf8")
    /// The number does not fit the requested type.
    public static let number = Code(rawValue: "number")
    /// A value of another type was expected.
    public static let type = Code(rawValue: "type")
    /// A member is missing.
    public static let missing = Code(rawValue: "missing")
    /// The value has the right type but is not allowed.
    public static let value = Code(rawValue: "value")
    /// The text is not a JSON Pointer, or no value exists at it.
    public static let pointer = Code(rawValue: "pointer")
    /// The value is not a JSON Patch, or the patch cannot be applied.
    public static let patch = Code(rawValue: "patch")
    /// A limit other than the depth was exceeded.
    public static let limit = Code(rawValue: "limit")
  }

  /// The kind of error.
  public var code: Code
  /// One readable line in the words of this project; it quotes at most a few bytes of the input.
  public var message: String
  /// The offset in the text, in bytes from its start; nil if the error is not about a text.
  public var offset: Int?
  /// The path in the document, outermost element first.
  ///
  /// An error that a `JSONReader` throws while a larger text is decoded gets the path to its
  /// `offset` as a prefix when it leaves the type that was read with that reader.
  public var path: [JSONPathElement]
  /// The path that has to be prefixed; nil after that has been done.
  var pathStart: PathStart?

  /// The kinds of path that can be prefixed to an error.
  enum PathStart {
    /// The path of the value at the offset.
    case value
    /// The path of the container around the offset.
    case container
  }

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, offset: Int? = nil, path: [JSONPathElement] = []
  ) {
    self.code = code
    self.message = message
    self.offset = offset
    self.path = path
  }

  /// The path as a JSON Pointer (RFC 6901); empty for the whole document.
  public var pathDescription: String {
    JSONPointer(path.map(\.token)).description
  }
}

extension JSONError {
  /// Returns true if code, message, offset and path are the same.
  public static func == (one: JSONError, other: JSONError) -> Bool {
    one.code == other.code && one.message == other.message && one.offset == other.offset
      && one.path == other.path
  }
}

extension JSONError: CustomStringConvertible {
  /// The message with path and offset, in one line that a terminal may show.
  public var description: String {
    var text = message
    if !path.isEmpty { text += " at \(pathDescription)" }
    if let offset { text += " (byte \(offset))" }
    return text.printable
  }
}

/// A step from a value into one of its members or elements.
public enum JSONPathElement: Hashable, Sendable {
  /// The key of a member.
  case key(String)
  /// The index of an element, from 0.
  case index(Int)

  /// The step as a token of a JSON Pointer, without escapes.
  public var token: String {
    switch self {
    case .key(let key): key
    case .index(let index): String(index)
    }
  }
}

extension JSONError {
  /// Adds the missing prefix of the path.
  ///
  /// - Parameter find: Returns the path to an offset, or the path of the container around it.
  mutating func completePath(_ find: (_ offset: Int, _ ofContainer: Bool) -> [JSONPathElement]) {
    guard let start = pathStart, let offset else { return }
    pathStart = nil
    switch start {
    case .value: path = find(offset, false) + path
    // The offset is after the end of the object that lacks the member.
    case .container: path = find(max(offset - 1, 0), true) + path
    }
  }

  /// Returns the same error with a path that starts one step further out.
  func under(_ element: JSONPathElement) -> JSONError {
    var error = self
    error.path.insert(element, at: 0)
    return error
  }

  /// Returns the same error with a path that starts further out.
  func under(_ path: [JSONPathElement]) -> JSONError {
    var error = self
    error.path = path + error.path
    return error
  }
}
