// SPDX-License-Identifier: Apache-2.0

/// What a frontend sends to the form that adds a todo.
///
/// - Shape: `{"type": "validate", "title": String}` or `{"type": "addTodo", "title": String}`.
public enum AddTodoInput: Codable, Equatable, Sendable {
  /// The title as it stands in the field; anything is allowed.
  case validate(title: String)
  case addTodo(title: TodoTitle)
}

/// What a frontend sees of the form that adds a todo.
///
/// - Shape: `{"valid": Bool, "loading": Bool, "dismiss": Bool}`
public struct AddTodoViewState: Codable, Equatable, Sendable {
  /// Whether the title is one that a todo may have.
  public var valid = false
  /// Whether the todo is being added.
  public var loading = false
  /// Whether it was added, so that the form can go away.
  public var dismiss = false

  public init(valid: Bool = false, loading: Bool = false, dismiss: Bool = false) {
    self.valid = valid
    self.loading = loading
    self.dismiss = dismiss
  }
}
