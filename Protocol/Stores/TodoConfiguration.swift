// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Which list a todo store shows.
///
/// - Shape: `{"list": String}` for a named list in the database, shared by all that open it, or
///   `{"memory": {"count": Int}}` for a private list in memory that starts with `count` todos, ids
///   "1" to the count, titles "Todo 1" and so on; `{}` is the list "default".
public struct TodoConfiguration: Decodable, Sendable, Equatable {
  /// Where the list is.
  public enum Source: Sendable, Equatable {
    case list(String)
    case memory(count: Int)
  }

  /// - Units: UTF-8 bytes.
  public static let maximumListNameBytes = 256
  /// How many todos a list in memory can start with.
  public static let maximumCount = 100_000

  public let source: Source

  public init(_ source: Source) { self.source = source }

  /// Through `JSONReadable`; for decoders other than ours as well.
  public init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    self = try JSON.decode(TodoConfiguration.self, from: value)
  }
}

// Read directly, for the same reason as `StoreOpen.Params`.
extension TodoConfiguration: JSONReadable {
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var list: JSONReader?
    var memory: JSONReader?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "list": list = try reader.isAtNull() ? nil : reader
      case "memory": memory = try reader.isAtNull() ? nil : reader
      default: break
      }
      _ = try reader.skipValue()
    }
    switch (list, memory) {
    case (nil, nil):
      source = .list("default")
    case (let list?, _?):
      throw list.error(.value, "a list is named or in memory, not both", at: list.position)
    case (var list?, nil):
      let start = list.nextValueOffset()
      let name = try list.readString()
      guard (1...Self.maximumListNameBytes).contains(name.utf8.count) else {
        throw list.error(
          .value, "a list's name has 1 to \(Self.maximumListNameBytes) bytes", at: start)
      }
      source = .list(name)
    case (nil, var memory?):
      source = .memory(count: try Self.count(&memory))
    }
  }

  private static func count(_ memory: inout JSONReader) throws(JSONError) -> Int {
    var found: JSONReader?
    try memory.beginObject()
    while let key = try memory.nextKey() {
      if key == "count" { found = memory }
      _ = try memory.skipValue()
    }
    guard var found, try !found.readNullIfPresent() else { return 0 }
    let start = found.nextValueOffset()
    let count = try found.readInt()
    guard (0...maximumCount).contains(count) else {
      throw found.error(.value, "the count is 0 to \(maximumCount)", at: start)
    }
    return count
  }
}

extension JSONReader {
  /// Whether null comes next; nothing is read.
  fileprivate mutating func isAtNull() throws(JSONError) -> Bool { try peek() == .null }
}

extension TodoConfiguration: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    let name = JSONSchema.string(maximumBytes: maximumListNameBytes, minimumLength: 1)
    let count = JSONSchema.integer(minimum: 0, maximum: maximumCount)
    return .anyOf([
      JSONSchema.object([.optional("list", name), .optional("memory", .null)])
        .titled("TodoConfigurationList"),
      JSONSchema.object([
        .optional("list", .null), .member("memory", .object([.optional("count", count)])),
      ]).titled("TodoConfigurationMemory"),
    ])
  }
}
