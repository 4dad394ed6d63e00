// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An input of a todo list.
///
/// - Shape: `{"type": "stateRequested"}`, `{"type": "todoAdded", "title": String, "id"?: String}`,
///   …: the case is the `type`, the labels are the members. A title that is empty without its white
///   space or longer than `TodoTitle.maximumBytes` is a decoding error; so is an id that is not a
///   `TodoID`.
public enum TodoInput: Codable, Equatable, Sendable {
  /// Loads the list, or loads it again.
  case stateRequested
  /// Adds a todo at the end. If `id` is nil, the server creates the id; an id that the list already
  /// contains changes nothing.
  case todoAdded(title: TodoTitle, id: TodoID? = nil)
  /// Removes a todo.
  case todoRemoved(id: String)
  /// Changes the title of a todo.
  case todoRenamed(id: String, title: TodoTitle)
  /// Marks a todo as completed.
  case todoCompleted(id: String)
  /// Marks a todo as not completed.
  case todoReopened(id: String)
  /// Moves a todo before another one, or to the end if `before` is nil.
  case todoMoved(id: String, before: String?)
  /// Replaces the list; only for code inside the server, refused from a client.
  case todosUpdated(todos: [Todo])
}

/// A title that is allowed for a todo.
///
/// - Shape: a string, at most 4,096 UTF-8 bytes, not only white space.
public struct TodoTitle: Hashable, Sendable {
  /// The greatest length of a title.
  ///
  /// - Units: UTF-8 bytes.
  public static let maximumBytes = 4096

  /// The title, unchanged, including white space.
  public let text: String

  /// Creates a title.
  ///
  /// - Throws: `TodoTitle.Unusable` with the reason.
  public init(_ text: String) throws(Unusable) {
    guard text.utf8.count <= Self.maximumBytes else { throw .tooLong }
    // Most titles contain a visible ASCII character; the Unicode properties of other characters
    // take longer to look up.
    guard
      text.utf8.contains(where: { 0x21...0x7E ~= $0 })
        || !text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    else { throw .empty }
    self.text = text
  }

  /// The reason why a text is not allowed as a title; the raw value is the message for readers.
  public enum Unusable: String, Error {
    /// The text is empty or only white space.
    case empty = "a title must not be empty"
    /// The text has more than `maximumBytes`.
    case tooLong = "a title has at most 4096 bytes"
  }
}

extension TodoTitle: Codable, JSONReadable, JSONWritable {
  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(container.decode(String.self))
    } catch let unusable as Unusable {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: unusable.rawValue)
    }
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.position
    let text = try reader.readString()
    do throws(Unusable) {
      try self.init(text)
    } catch {
      throw reader.error(.value, error.rawValue, at: start)
    }
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) { writer.value(text) }
}

extension TodoInput: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "stateRequested": self = .stateRequested
    case "todoAdded":
      self = .todoAdded(title: try object.read("title"), id: try object.readIfPresent("id"))
    case "todoRemoved": self = .todoRemoved(id: try object.read("id"))
    case "todoRenamed":
      self = .todoRenamed(id: try object.read("id"), title: try object.read("title"))
    case "todoCompleted": self = .todoCompleted(id: try object.read("id"))
    case "todoReopened": self = .todoReopened(id: try object.read("id"))
    case "todoMoved":
      self = .todoMoved(id: try object.read("id"), before: try object.readIfPresent("before"))
    default: throw object.unknownType()
    }
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .stateRequested:
      writer.value("stateRequested" as StaticString)
    case .todoAdded(let title, let id):
      writer.value("todoAdded" as StaticString)
      writer.key("title")
      writer.value(title)
      writer.key("id")
      writer.value(id)
    case .todoRemoved(let id):
      writer.value("todoRemoved" as StaticString)
      writer.key("id")
      writer.value(id)
    case .todoRenamed(let id, let title):
      writer.value("todoRenamed" as StaticString)
      writer.key("id")
      writer.value(id)
      writer.key("title")
      writer.value(title)
    case .todoCompleted(let id):
      writer.value("todoCompleted" as StaticString)
      writer.key("id")
      writer.value(id)
    case .todoReopened(let id):
      writer.value("todoReopened" as StaticString)
      writer.key("id")
      writer.value(id)
    case .todoMoved(let id, let before):
      writer.value("todoMoved" as StaticString)
      writer.key("id")
      writer.value(id)
      writer.key("before")
      writer.value(before)
    case .todosUpdated(let todos):
      writer.value("todosUpdated" as StaticString)
      writer.key("todos")
      writer.beginArray()
      for todo in todos { writer.value(todo) }
      writer.endArray()
    }
    writer.endObject()
  }
}

extension TodoTitle: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    // The schema does not exclude titles of only white space, because languages define white space
    // differently.
    .string(maximumBytes: maximumBytes, minimumLength: 1, example: "Milk")
  }
}

extension TodoInput: JSONDescribed {
  // Without the input that is refused from a client.
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.probed(TodoInput.self).without("todosUpdated")
  }
}
