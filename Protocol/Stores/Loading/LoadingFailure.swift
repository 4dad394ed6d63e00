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
