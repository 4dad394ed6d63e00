// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sees of a todo list.
///
/// Generic over the list itself: an array where a frontend reads it, a keyed list where the store
/// compares one version with the next.
///
/// - Shape: `{"type":"loading"}`, `{"type":"content","todos":[Todo]}` or
///   `{"type":"error","code":String,"message":String}`
public enum TodoViewState<Todos: Codable & Sendable>: Codable, Sendable {
  /// Nothing to show yet; the state to begin with.
  case loading
  /// The list in order.
  case content(todos: Todos)
  /// The repository failed. `code` is stable, `message` is for people.
  case error(code: String, message: String)
}

extension TodoViewState: Equatable where Todos: Equatable {}

extension TodoViewState: JSONWritable where Todos: JSONWritable {
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

extension TodoViewState: JSONOutlined where Todos: JSONPart {
  public var outline: UInt8 {
    switch self {
    case .content: 1
    case .loading, .error: 0
    }
  }

  public func bringPart(
    _ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard case .content(let todos) = self else { return false }
    return todos.bring(&held, writing: &patch)
  }
}
