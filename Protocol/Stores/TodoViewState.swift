// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The view state of a todo list.
///
/// The type is generic over the list: an array where a frontend reads it, a `KeyedList` where the
/// store compares list versions.
///
/// - Shape: `{"type":"loading"}`, `{"type":"content","todos":[Todo]}` or
///   `{"type":"error","code":String,"message":String}`
public enum TodoViewState<Todos: Codable & Sendable>: Codable, Sendable {
  /// The initial state: the list has not been loaded.
  case loading
  /// The list, in order.
  case content(todos: Todos)
  /// A failure of the repository. `code` is stable, `message` is for users.
  case error(code: String, message: String)
}

extension TodoViewState: Equatable where Todos: Equatable {}

extension TodoViewState: JSONWritable where Todos: JSONWritable {
  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .loading:
      writer.value("loading" as StaticString)
    case .content(let todos):
      writer.value("content" as StaticString)
      writer.key("todos")
      writer.value(todos)
    case .error(let code, let message):
      writer.value("error" as StaticString)
      writer.key("code")
      writer.value(code)
      writer.key("message")
      writer.value(message)
    }
    writer.endObject()
  }
}

extension TodoViewState: IncrementallyDiffable where Todos: JSONPart {
  /// 1 for `content`, whose part is the list; 0 for other cases.
  public var layout: UInt8 {
    switch self {
    case .content: 1
    case .loading, .error: 0
    }
  }

  /// Updates the list that the receiver has to the list of this value.
  ///
  /// - Returns: False for other cases than `content`, or if the list cannot be updated.
  public func advancePart(
    _ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard case .content(let todos) = self else { return false }
    return todos.bring(&held, writing: &patch)
  }
}
