// SPDX-License-Identifier: Apache-2.0

/// Why a text, a value or a patch was refused.
public struct JSONError: Error, Equatable, Sendable {
  /// The kind of error, for programs.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public var rawValue: String
    /// True if the value can be read, and is more than a limit with the name `rawValue` allows.
    public let isLimit: Bool

    public init(rawValue: String) {
      self.rawValue = rawValue
      isLimit = false
    }

    /// The code of a value that can be read, and is more than a limit allows.
    ///
    /// - Parameter name: The name of the limit, for programs.
    public init(limit name: String) {
      rawValue = name
      isLimit = true
    }

    /// The text is no JSON.
    public static let syntax = Code(rawValue: "syntax")
    /// Arrays and objects nest deeper than the limits allow.
    public static let depth = Code(rawValue: "depth")
    /// The text is not UTF-8.
    public static let utf8 = Code(rawValue: "utf8")
    /// The number does not fit the type that was asked for.
    public static let number = Code(rawValue: "number")
    /// A value of another type was expected.
    public static let type = Code(rawValue: "type")
    /// A member is missing.
    public static let missing = Code(rawValue: "missing")
    /// The value has the right type and is still none that can be used.
    public static let value = Code(rawValue: "value")
    /// The text is no JSON Pointer, or it leads nowhere.
    public static let pointer = Code(rawValue: "pointer")
    /// The value is no JSON Patch, or the patch does not apply.
    public static let patch = Code(rawValue: "patch")
    /// A limit other than the depth was reached.
    public static let limit = Code(rawValue: "limit")
  }

  public var code: Code
  /// One readable line in our own words; it quotes at most a few bytes of the input.
  public var message: String
  /// Where in the text, in bytes from its start; nil when the error is about no text.
  public var offset: Int?
  /// Where in the document, outermost first.
  ///
  /// What a `JSONReader` has thrown within the decoding of a larger text gets the path to its `offset`
  /// put in front when it leaves the type that was read with that reader.
  public var path: [JSONPathElement]
  /// Which path that is; nil once it is there.
  var pathStart: PathStart?

  /// Which path leads to the offset of an error.
  enum PathStart {
    case value
    /// That of the container around it.
    case container
  }

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
  public static func == (one: JSONError, other: JSONError) -> Bool {
    one.code == other.code && one.message == other.message && one.offset == other.offset
      && one.path == other.path
  }
}

extension JSONError: CustomStringConvertible {
  public var description: String {
    var text = message
    if !path.isEmpty { text += " at \(pathDescription)" }
    if let offset { text += " (byte \(offset))" }
    return text.printable
  }
}

/// One step from a value into one of its members or elements.
public enum JSONPathElement: Hashable, Sendable {
  case key(String)
  case index(Int)

  /// The step as a token of a JSON Pointer, not escaped.
  public var token: String {
    switch self {
    case .key(let key): key
    case .index(let index): String(index)
    }
  }
}

extension JSONError {
  /// Puts in what is missing of the path.
  /// - Parameter find: Finds the path to an offset, or that of the container around it.
  mutating func completePath(_ find: (_ offset: Int, _ ofContainer: Bool) -> [JSONPathElement]) {
    guard let start = pathStart, let offset else { return }
    pathStart = nil
    switch start {
    case .value: path = find(offset, false) + path
    // Behind the end of the object whose member is missing.
    case .container: path = find(max(offset - 1, 0), true) + path
    }
  }

  /// The same error seen from one step further out.
  func under(_ element: JSONPathElement) -> JSONError {
    var error = self
    error.path.insert(element, at: 0)
    return error
  }

  /// The same error seen from further out.
  func under(_ path: [JSONPathElement]) -> JSONError {
    var error = self
    error.path = path + error.path
    return error
  }
}
