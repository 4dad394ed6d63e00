// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The members of a JSON-RPC message, as ranges of its text; valid as long as the text.
///
/// Unknown members are ignored. The last of several members with the same name counts.
///
/// - Source: JSON-RPC 2.0 §4.
public struct Envelope {
  /// The `id` of a message.
  public enum ID {
    /// The message is a notification.
    case absent
    /// A string, a number or null, as JSON text.
    case usable(UnsafeRawBufferPointer)
    /// Another type, or longer than 1024 bytes.
    case unusable
  }

  /// The `params` of a message.
  public enum Params {
    /// Absent, or null, which some clients send instead.
    case absent
    /// Named parameters.
    case object(JSONMembers)
    /// Parameters by position, which no method accepts.
    case array
    /// Another type.
    case unusable
  }

  // The id is copied into each response, so its length is limited.
  private static var maximumIDBytes: Int { 1024 }

  /// The JSON text of the object.
  public private(set) var text = UnsafeRawBufferPointer(start: nil, count: 0)
  /// The id of the message.
  public private(set) var id = ID.absent
  /// The method; nil if it is missing or not a string.
  public private(set) var method: JSONKey?
  /// The parameters of the message.
  public private(set) var params = Params.absent
  private var isVersion2 = false
  private var hasResult = false

  /// Reads a whole object.
  ///
  /// - Throws: `JSONError` if it is not JSON. `fault` reports every other error.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "jsonrpc":
        isVersion2 = try reader.peek() == .string
        if isVersion2 {
          isVersion2 = try reader.readStringBytes() == "2.0"
        } else {
          _ = try reader.skipValue()
        }
      case "method":
        if try reader.peek() == .string {
          method = try reader.readStringBytes()
        } else {
          method = nil
          _ = try reader.skipValue()
        }
      case "id":
        let kind = try reader.peek()
        let bytes = reader.bytes(in: try reader.skipValue())
        let isUsable = kind == .string || kind == .number || kind == .null
        id = isUsable && bytes.count <= Self.maximumIDBytes ? .usable(bytes) : .unusable
      case "params":
        switch try reader.peek() {
        case .object:
          params = .object(try reader.readMembers())
          continue
        case .null: params = .absent
        case .array: params = .array
        default: params = .unusable
        }
        _ = try reader.skipValue()
      case "result", "error":
        hasResult = true
        _ = try reader.skipValue()
      default:
        _ = try reader.skipValue()
      }
    }
    text = reader.bytes(in: start..<reader.position)
  }

  /// True for a response; the server sends no requests, so it expects none.
  public var isResponse: Bool { hasResult && method == nil }

  /// The reason why the message is neither a request nor a notification; nil if it is one.
  public var fault: String? {
    if !isVersion2 { return "jsonrpc must be \"2.0\"" }
    if method == nil { return "method must be a string" }
    if case .unusable = id { return "id must be a string, a number or null, of at most 1024 bytes" }
    if case .unusable = params { return "params must be an object" }
    return nil
  }
}

@available(*, unavailable)
extension Envelope: Sendable {}
