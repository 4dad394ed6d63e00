// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import PostgresConnections
internal import StoredTodoLists

/// The result of `statewire.todo_read`.
struct TodoRows {
  enum Content {
    case changes([(ListVersion, TodoChange)])
    case todos(TodoList)
  }

  /// The version of the list; 0 if it does not exist.
  let version: ListVersion
  let content: Content

  /// Reads the rows; nil if they have an operation that this program does not know.
  ///
  /// - Parameter known: The version since which the changes were requested; -1 for the list.
  init?(_ rows: PostgresRows, after known: ListVersion) {
    guard !rows.isEmpty else {
      version = 0
      content = known < 0 ? .todos([]) : .changes([])
      return
    }
    version = rows.integer(0, 0) ?? 0
    let words = (1..<rows.count).lazy.map { rows.text($0, 1) ?? "" }
    if known == version
      || (known >= 0 && words.first.map { !["todo", "done"].contains($0) } ?? false)
    {
      var changes: [(ListVersion, TodoChange)] = []
      for row in 1..<rows.count {
        guard let change = LoggedChange(rows, row, 1).change else { return nil }
        changes.append((rows.integer(row, 0) ?? 0, change))
      }
      content = .changes(changes)
    } else {
      content = .todos(
        TodoList(
          KeyedList(
            (1..<rows.count).map { row in
              Todo(
                id: rows.text(row, 2) ?? "", title: rows.text(row, 3) ?? "",
                completed: rows.text(row, 1) == "done")
            })))
    }
  }
}

extension LoggedChange {
  /// Reads the columns of a change, of which the first one is `column`.
  init(_ rows: PostgresRows, _ row: Int, _ column: Int) {
    self.init(
      rows.text(row, column) ?? "", rows.text(row, column + 1) ?? "", rows.text(row, column + 2),
      rows.text(row, column + 3))
  }
}
