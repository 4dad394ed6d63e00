// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// One entry of a todo list.
///
/// - Shape: `{"id": String, "title": String, "completed": Bool}`
public struct Todo: Codable, Hashable, Identifiable, Sendable {
  /// Made by the repository; unique within its list.
  public let id: String
  /// Not empty when white space is trimmed; at most 4,096 UTF-8 bytes.
  public var title: String
  public var completed: Bool

  public init(id: String, title: String, completed: Bool = false) {
    self.id = id
    self.title = title
    self.completed = completed
  }
}

// Written by hand beside the synthesized code, since every input of the busiest store ends here, and a
// frontend reads a list of them each time it looks.
extension Todo: JSONReadable, JSONWritable {
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
