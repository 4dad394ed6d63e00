// SPDX-License-Identifier: Apache-2.0

/// An input of the form that adds a todo.
///
/// - Shape: `{"type": "validate", "title": String}` or `{"type": "addTodo", "title": String}`.
public enum AddTodoInput: Codable, Equatable, Sendable {
  /// Validates the current title of the field; every string is allowed.
  case validate(title: String)
  /// Adds a todo with this title.
  case addTodo(title: TodoTitle)
}

/// The view state of the form that adds a todo.
///
/// - Shape: `{"valid": Bool, "loading": Bool, "dismiss": Bool}`
public struct AddTodoViewState: Codable, Equatable, Sendable {
  /// True if the title is allowed for a todo.
  public var valid = false
  /// True while the todo is being added.
  public var loading = false
  /// True once the todo was added, so that the frontend can close the form.
  public var dismiss = false

  /// Creates a view state.
  public init(valid: Bool = false, loading: Bool = false, dismiss: Bool = false) {
    self.valid = valid
    self.loading = loading
    self.dismiss = dismiss
  }
}
