// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The reason why loading failed.
///
/// - Shape: `{"code": String, "message": String}`
public struct LoadingFailure: Error, Codable, Hashable, Sendable {
  /// A stable code, for programs and for frontends with their own messages.
  public var code: String
  /// A message for users.
  public var message: String

  /// Creates a failure.
  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }
}

extension LoadingFailure {
  // By bytes: to compare strings by their characters takes time that grows with the square of their
  // marks, and clients choose these.

  /// Returns true if both failures have the same texts.
  public static func == (one: LoadingFailure, other: LoadingFailure) -> Bool {
    one.code.hasSameBytes(as: other.code) && one.message.hasSameBytes(as: other.message)
  }

  /// Hashes the bytes of the texts.
  public func hash(into hasher: inout Hasher) {
    for text in [code, message] {
      hasher.combine(text.utf8.count)
      text.withUTF8Bytes { hasher.combine(bytes: $0) }
    }
  }
}

extension LoadingFailure: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var code: String?
    var message: String?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "code": code = try reader.readString()
      case "message": message = try reader.readString()
      default: try reader.skipValue()
      }
    }
    guard let code else { throw reader.missing("code") }
    guard let message else { throw reader.missing("message") }
    self.init(code: code, message: message)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("code")
    writer.value(code)
    writer.key("message")
    writer.value(message)
    writer.endObject()
  }
}
