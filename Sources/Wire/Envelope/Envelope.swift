// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The members of a JSON-RPC message, as places in its text; valid while the text is.
///
/// - Source: JSON-RPC 2.0 §4. Unknown members are ignored; of several with one name the last counts.
public struct Envelope {
  /// The `id` of a message.
  public enum ID {
    /// The message is a notification.
    case absent
    /// A string, a number or null, as it stands in the text.
    case usable(UnsafeRawBufferPointer)
    /// It has another type, or is too long.
    case unusable
  }

  /// The `params` of a message.
  public enum Params {
    /// Absent, or null, which some clients send instead.
    case absent
    case object(JSONMembers)
    /// By position, which no method takes.
    case array
    /// It has another type.
    case unusable
  }

  // Ids come back with every frame of a connection, so they are kept short.
  private static var maximumIDBytes: Int { 1024 }

  /// The whole object.
  public private(set) var text = UnsafeRawBufferPointer(start: nil, count: 0)
  public private(set) var id = ID.absent
  /// The method; nil if it is missing or not a string.
  public private(set) var method: JSONKey?
  public private(set) var params = Params.absent
  private var isVersion2 = false
  private var hasResult = false

  /// Reads an object to its end.
  /// - Throws: `JSONError` if it is not JSON. `fault` reports every other mistake.
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

  /// True for the response to a request; the server makes no requests.
  public var isResponse: Bool { hasResult && method == nil }

  /// The reason why the message is not a request; nil if it is one.
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
