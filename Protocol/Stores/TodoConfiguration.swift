// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The list that a todo store shows.
///
/// - Shape: `{"list": String}` for a named list in the database, which all its stores share, or
///   `{"memory": {"count": Int}}` for a private list in memory that starts with `count` todos, with
///   the ids "1" to the count and the titles "Todo 1" and so on; `{}` is the list "default".
public struct TodoConfiguration: Decodable, Sendable, Equatable {
  /// The storage of the list.
  public enum Source: Sendable, Equatable {
    /// The named list in the database.
    case list(String)
    /// A private list in memory with `count` initial todos.
    case memory(count: Int)
  }

  /// The greatest length of a list's name.
  ///
  /// - Units: UTF-8 bytes.
  public static let maximumListNameBytes = 256
  /// The most initial todos of a list in memory.
  public static let maximumCount = 100_000

  /// The storage of the list.
  public let source: Source

  /// Creates a configuration.
  public init(_ source: Source) { self.source = source }

  /// Decodes a configuration with a decoder of another module.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    self = try JSON.decode(TodoConfiguration.self, from: value)
  }
}

// Reads itself, for the same reason as `StoreOpen.Params`.
extension TodoConfiguration: JSONReadable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
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
      throw found.error(.value, "the count must be 0 to \(maximumCount)", at: start)
    }
    return count
  }
}

extension JSONReader {
  /// Returns true if null is the next value; reads nothing.
  fileprivate mutating func isAtNull() throws(JSONError) -> Bool { try peek() == .null }
}

extension TodoConfiguration: JSONDescribed {
  /// Returns the JSON Schema of the type.
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
