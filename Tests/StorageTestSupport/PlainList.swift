// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import BuiltinStoresProtocol

/// A reference model of a todo list as an array. The implementations must agree with it.
public struct PlainList: Sendable {
  public var todos: [Todo] = []

  public init() {}

  public mutating func apply(_ change: TodoChange) {
    switch change {
    case .addTodo(let todo): todos.append(todo)
    case .removeTodo(let id): todos.removeAll { $0.id == id }
    case .renameTodo(let id, let title): update(id) { $0.title = title }
    case .completeTodo(let id): update(id) { $0.completed = true }
    case .reopenTodo(let id): update(id) { $0.completed = false }
    case .moveTodo(let id, let before): move(id, before: before)
    }
  }

  /// Performs an operation. An added todo gets `newID` if the operation has no id.
  public mutating func perform(_ operation: TodoOperation, newID: String) {
    switch operation {
    case .add(let title, let id):
      if let id, todos.contains(where: { $0.id == id }) { return }
      apply(.addTodo(Todo(id: id ?? newID, title: title)))
    case .remove(let id): apply(.removeTodo(id: id))
    case .rename(let id, let title): apply(.renameTodo(id: id, title: title))
    case .complete(let id): apply(.completeTodo(id: id))
    case .reopen(let id): apply(.reopenTodo(id: id))
    case .move(let id, let before): apply(.moveTodo(id: id, before: before))
    }
  }

  private mutating func update(_ id: String, _ change: (inout Todo) -> Void) {
    guard let index = todos.firstIndex(where: { $0.id == id }) else { return }
    change(&todos[index])
  }

  private mutating func move(_ id: String, before other: String?) {
    guard let todo = todos.first(where: { $0.id == id }), other != id else { return }
    guard other == nil || todos.contains(where: { $0.id == other }) else { return }
    todos.removeAll { $0.id == id }
    todos.insert(todo, at: todos.firstIndex { $0.id == other } ?? todos.count)
  }
}

extension TodoOperation {
  /// Returns a random operation on a list with these ids; some operations change nothing.
  public static func random(on ids: [String], using numbers: inout some RandomNumberGenerator)
    -> Self
  {
    func anID() -> String { ids.randomElement(using: &numbers) ?? "unknown" }
    switch Int.random(in: 0..<100, using: &numbers) {
    case ..<30: return .add(title: "title \(Int.random(in: 0..<1000, using: &numbers))")
    case ..<50: return .remove(id: anID())
    case ..<60: return .rename(id: anID(), title: "named \(Int.random(in: 0..<3, using: &numbers))")
    case ..<68: return .complete(id: anID())
    case ..<76: return .reopen(id: anID())
    case ..<80: return .remove(id: "unknown")
    case ..<82: return .move(id: anID(), before: "unknown")
    case ..<88: return .move(id: anID(), before: nil)
    default: return .move(id: anID(), before: anID())
    }
  }
}
