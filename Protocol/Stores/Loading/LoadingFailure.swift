// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Why a load failed.
///
/// - Shape: `{"code": String, "message": String}`
public struct LoadingFailure: Error, Codable, Hashable, Sendable {
  /// Stable, for programs and for frontends with words of their own.
  public var code: String
  /// For people.
  public var message: String

  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }
}

extension LoadingFailure: JSONReadable, JSONWritable {
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

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("code")
    writer.value(code)
    writer.key("message")
    writer.value(message)
    writer.endObject()
  }
}
