// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sends to a todo list.
///
/// - Shape: `{"type": "stateRequested"}`, `{"type": "todoAdded", "title": String, "id"?: String}`, …:
///   the case is the `type`, the labels are the members. A title that is empty without its white
///   space, or longer than `TodoTitle.maximumBytes`, is an error of decoding; so is an id that is no
///   `TodoID`.
public enum TodoInput: Codable, Equatable, Sendable {
  /// Load the list, or load it again.
  case stateRequested
  /// Adds a todo at the end; nil: the server makes its id. An id that the list has changes nothing.
  case todoAdded(title: TodoTitle, id: TodoID? = nil)
  case todoRemoved(id: String)
  case todoRenamed(id: String, title: TodoTitle)
  case todoCompleted(id: String)
  case todoReopened(id: String)
  /// Moves a todo before another one; nil: to the end.
  case todoMoved(id: String, before: String?)
  /// The list as somebody inside the program has it; refused from a frontend.
  case todosUpdated(todos: [Todo])
}

/// A title that a todo may have.
///
/// - Shape: a string, at most 4,096 UTF-8 bytes, not only white space.
public struct TodoTitle: Hashable, Sendable {
  /// - Units: UTF-8 bytes.
  public static let maximumBytes = 4096

  /// The title as it was given, its white space included.
  public let text: String

  /// - Throws: `TodoTitle.Unusable` with a sentence that says why.
  public init(_ text: String) throws(Unusable) {
    guard text.utf8.count <= Self.maximumBytes else { throw .tooLong }
    // Most titles have a letter of ASCII; what Unicode says of the others takes longer to find out.
    guard
      text.utf8.contains(where: { 0x21...0x7E ~= $0 })
        || !text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    else { throw .empty }
    self.text = text
  }

  /// Why a text is no title.
  public enum Unusable: String, Error {
    case empty = "a title must not be empty"
    case tooLong = "a title has at most 4096 bytes"
  }
}

extension JSONError.Code {
  /// A title is longer than this server takes, though not longer than a title may be.
  public static let titleBytes = JSONError.Code(limit: "titleBytes")
}

extension TodoTitle: Codable, JSONReadable, JSONWritable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(container.decode(String.self))
    } catch let unusable as Unusable {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: unusable.rawValue)
    }
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.position
    let text = try reader.readString()
    do throws(Unusable) {
      try self.init(text)
    } catch {
      throw reader.error(.value, error.rawValue, at: start)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  public func write(to writer: inout JSONWriter) { writer.value(text) }
}

extension TodoInput: JSONReadable, JSONWritable {
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
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    // That it is not only white space is not said: what that is differs between languages.
    .string(maximumBytes: maximumBytes, minimumLength: 1, example: "Milk")
  }
}

extension TodoInput: JSONDescribed {
  // Without what is refused from a frontend.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.probed(TodoInput.self).without("todosUpdated")
  }
}
