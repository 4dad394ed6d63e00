// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinStores

/// The limits of `statewire serve` for todo lists.
struct TodoLimitOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "Todos in one list.")
  var maximumTodosPerList = TodoLimits().list.todos

  @Option(
    parsing: .unconditional,
    help: """
      Bytes of one list: of titles and ids, and \(TodoSize.bytesPerTodo) for each todo. As JSON it has at most six \
      times as many.
      """)
  var maximumTodoBytesPerList = TodoLimits().list.bytes

  @Option(parsing: .unconditional, help: "Todos in all lists of the database.")
  var maximumTodosPerDatabase = TodoLimits().database.todos

  @Option(parsing: .unconditional, help: "Bytes of all lists of the database.")
  var maximumTodoBytesPerDatabase = TodoLimits().database.bytes

  @Option(parsing: .unconditional, help: "Todos in all lists in memory of one session.")
  var maximumTodosPerSession = TodoLimits().session.todos

  @Option(parsing: .unconditional, help: "Bytes of all lists in memory of one session.")
  var maximumTodoBytesPerSession = TodoLimits().session.bytes

  @Option(
    parsing: .unconditional,
    help: "Todos in all lists in memory of one name in the token file. (default: half of all)")
  var maximumTodosPerIdentity: Int?

  @Option(
    parsing: .unconditional,
    help: "Bytes of all lists in memory of one name in the token file. (default: half of all)")
  var maximumTodoBytesPerIdentity: Int?

  @Option(parsing: .unconditional, help: "Todos in all lists in memory.")
  var maximumTodos = TodoLimits().memory.todos

  @Option(parsing: .unconditional, help: "Bytes of all lists in memory.")
  var maximumTodoBytes = TodoLimits().memory.bytes

  func validate() throws {
    let all = [
      maximumTodosPerList, maximumTodoBytesPerList, maximumTodosPerDatabase,
      maximumTodoBytesPerDatabase, maximumTodosPerSession, maximumTodoBytesPerSession,
      maximumTodosPerIdentity ?? 1, maximumTodoBytesPerIdentity ?? 1, maximumTodos,
      maximumTodoBytes,
    ]
    guard all.allSatisfy({ $0 > 0 }) else { throw ValidationError("A limit is at least 1.") }
  }

  var limits: TodoLimits {
    var limits = TodoLimits()
    limits.list = TodoSize(todos: maximumTodosPerList, bytes: maximumTodoBytesPerList)
    limits.database = TodoSize(todos: maximumTodosPerDatabase, bytes: maximumTodoBytesPerDatabase)
    limits.session = TodoSize(todos: maximumTodosPerSession, bytes: maximumTodoBytesPerSession)
    limits.todosPerIdentity = maximumTodosPerIdentity
    limits.bytesPerIdentity = maximumTodoBytesPerIdentity
    limits.memory = TodoSize(todos: maximumTodos, bytes: maximumTodoBytes)
    return limits
  }
}
