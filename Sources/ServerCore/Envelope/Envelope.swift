// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The members of a JSON-RPC message, as places in its text.
///
/// - Source: JSON-RPC 2.0 §4. Unknown members are ignored; of several with one name the last counts.
struct Envelope {
  /// What the `id` is good for.
  enum ID {
    case absent
    /// A string, a number or null, as it stands in the text.
    case usable(UnsafeRawBufferPointer)
    case unusable
  }

  /// What the `params` are.
  enum Params {
    /// Absent, or null, which some clients send instead.
    case absent
    case object(JSONMembers)
    /// By position, which no method here takes.
    case array
    case unusable
  }

  // Ids come back with every frame of a connection, so they are kept short.
  private static var maximumIDBytes: Int { 1024 }

  /// The whole object.
  private(set) var text = UnsafeRawBufferPointer(start: nil, count: 0)
  private(set) var id = ID.absent
  private(set) var method: JSONKey?
  private(set) var params = Params.absent
  private var isVersion2 = false
  private var hasResult = false

  /// Reads an object to its end.
  /// - Throws: `JSONError` if it is no JSON; everything else is left to be asked for.
  init(reading reader: inout JSONReader) throws(JSONError) {
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

  /// Whether it answers a request; this server makes none.
  var isResponse: Bool { hasResult && method == nil }

  /// What is wrong with it as a request; nil if nothing is.
  var fault: String? {
    if !isVersion2 { return "jsonrpc must be \"2.0\"" }
    if method == nil { return "method must be a string" }
    if case .unusable = id { return "id must be a string, a number or null, of at most 1024 bytes" }
    if case .unusable = params { return "params must be an object" }
    return nil
  }
}
