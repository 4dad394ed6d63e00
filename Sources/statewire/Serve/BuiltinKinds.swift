// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Persistence
import Sessions
import StatewireProtocol

extension StoreKind {
  /// The kinds that the program serves, over one database.
  static func builtin(database: EmbeddedDatabase) -> [StoreKind] {
    [
      StoreKind("todo", configuration: TodoConfiguration.self) { configuration in
        switch configuration.source {
        case .list(let name):
          TodoStore(repository: database.todoRepository(list: name))
        case .memory(let count):
          TodoStore(
            repository: MemoryTodoRepository(), list: MemoryTodoRepository.list(count: count))
        }
      },
      StoreKind("addTodo", configuration: TodoConfiguration.self) { configuration in
        switch configuration.source {
        case .list(let name): AddTodoStore(repository: database.todoRepository(list: name))
        case .memory: AddTodoStore(repository: MemoryTodoRepository())
        }
      },
      StoreKind("form") { FormStore() },
    ]
  }
}
