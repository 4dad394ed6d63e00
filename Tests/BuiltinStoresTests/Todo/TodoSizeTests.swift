// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import Testing

@testable import BuiltinStores

@Suite("Todo list size")
struct TodoSizeTests {
  private func counted(_ list: TodoList) -> TodoSize {
    list.todos.reduce(into: TodoSize()) { $0 += TodoSize($1) }
  }

  @Test("the size is updated with each change")
  func changes() {
    var (list, numbers) = (MemoryTodoRepository.list(count: 5), SystemRandomNumberGenerator())
    for step in 1...2000 {
      let id = String(Int.random(in: 1...30, using: &numbers))
      let title = String(repeating: "Ä", count: Int.random(in: 1...20, using: &numbers))
      switch step % 8 {
      case 0: list.apply(.addTodo(Todo(id: id, title: title)))
      case 1: list.make(title: title)
      case 2: list.make(title: title, id: id)
      case 3, 4: list.apply(.removeTodo(id: id))
      case 5: list.apply(.renameTodo(id: id, title: title))
      case 6: list.apply(.completeTodo(id: id))
      default: list.apply(.moveTodo(id: id, before: nil))
      }
      #expect(list.size == counted(list))
    }
    list.todos = [Todo(id: "a", title: "b")]
    #expect(list.size == counted(list))
  }

  @Test(
    "the size of a seeded list is known before the list is created",
    arguments: [0, 1, 9, 10, 99, 100, 12_345])
  func seeded(_ count: Int) {
    let list = MemoryTodoRepository.list(count: count)
    #expect(MemoryTodoRepository.size(count: count) == counted(list))
    #expect(list.size == counted(list))
  }

  @Test("the size is restored with the list")
  func coding() throws {
    var list = MemoryTodoRepository.list(count: 3)
    list.apply(.removeTodo(id: "2"))
    let read = try JSON.decode(TodoList.self, from: JSON.encode(list))
    #expect(read.size == list.size && read.made == 3)
  }

  @Test(
    "the size is at least a sixth of the size of the list as JSON",
    arguments: ["x", "\u{1}", "\\", String(repeating: "\u{1F}", count: 4096)])
  func json(_ title: String) throws {
    var list = TodoList()
    for _ in 1...100 { list.make(title: title) }
    list.make(title: title, id: String(repeating: "\u{7}", count: 64))
    let text = try JSON.encode(TodoViewState.content(todos: list.todos))
    #expect(text.count <= 6 * list.size.bytes)
  }

  @Test("a list of the maximum size fits in one message")
  func defaults() {
    #expect(6 * TodoLimits().list.bytes < 64 << 20)
    // Todos with ids from the server and titles of one line.
    let ordinary = Todo(
      id: String(repeating: "0", count: 36), title: "Todo 100000, and what to buy")
    #expect(100_000 * TodoSize(ordinary).bytes <= TodoLimits().list.bytes)
  }
}
