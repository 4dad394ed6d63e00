// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An entry of a todo list.
///
/// - Shape: `{"id": String, "title": String, "completed": Bool}`
public struct Todo: Codable, Hashable, Identifiable, Sendable {
  /// The id, which is unique within the list.
  public let id: String
  /// The title: not empty without white space; at most 4,096 UTF-8 bytes.
  public var title: String
  /// True if the todo is done.
  public var completed: Bool

  /// Creates a todo.
  public init(id: String, title: String, completed: Bool = false) {
    self.id = id
    self.title = title
    self.completed = completed
  }
}

// Hand-written in addition to the synthesized code, because the store with the most traffic reads
// or writes these values for every input, and a frontend reads a list of them with each state.
extension Todo: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var (id, title, completed): (String?, String?, Bool?)
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "id": id = try reader.read()
      case "title": title = try reader.read()
      case "completed": completed = try reader.read()
      default: _ = try reader.skipValue()
      }
    }
    guard let id else { throw reader.missing("id") }
    guard let title else { throw reader.missing("title") }
    guard let completed else { throw reader.missing("completed") }
    self.init(id: id, title: title, completed: completed)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("id")
    writer.value(id)
    writer.key("title")
    writer.value(title)
    writer.key("completed")
    writer.value(completed)
    writer.endObject()
  }
}
