// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import Testing

@testable import BuiltinStores

@Suite("Todo numbers")
struct TodoNumberTests {
  /// Returns the id that the next todo gets: the first free number after `made`.
  private func nextID(of list: TodoList) -> String {
    var number = list.made + 1
    while list.contains(id: String(number)) { number += 1 }
    return String(number)
  }

  @Test("a todo gets the first free number after the number of todos made")
  func random() throws {
    var numbers = SystemRandomNumberGenerator()
    for _ in 1...50 {
      var list = TodoList()
      for _ in 1...200 {
        // Mostly numbers that `make` reaches soon.
        let near = max(1, list.made + Int.random(in: -3...12, using: &numbers))
        let id = (Int.random(in: 1...10, using: &numbers) == 1 ? "+" : "") + String(near)
        switch Int.random(in: 0...13, using: &numbers) {
        case 0...4:
          let next = nextID(of: list)
          list.make(title: "a")
          #expect(list.todos.last?.id == next)
        case 5...8: list.make(title: "b", id: id)
        case 9, 10: list.apply(.removeTodo(id: id))
        case 11: list.apply(.addTodo(Todo(id: id, title: "c")))
        case 12: list = try JSON.decode(TodoList.self, from: JSON.encode(list))
        default:
          let other = TodoList(KeyedList(list.todos.filter { _ in Bool.random(using: &numbers) }))
          if Bool.random(using: &numbers) { list.show(other) } else { list.todos = other.todos }
        }
      }
    }
  }

  @Test("numbers that were skipped are not searched again")
  func skipped() {
    var list = TodoList()
    for number in 2_001...4_000 { list.make(title: "a", id: String(number)) }
    for number in 4_001...4_100 {
      list.make(title: "b")
      #expect(list.todos.last?.id == String(number))
      #expect(list.firstCandidate == number + 1)
    }
    list.apply(.removeTodo(id: "3000"))
    list.make(title: "c")
    #expect(list.todos.last?.id == "3000")
  }
}
