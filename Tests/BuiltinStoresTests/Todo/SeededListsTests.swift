// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import BuiltinStores

@Suite("Seeded lists")
struct SeededListsTests {
  private func texts(_ list: TodoList) -> [String] { list.todos.map { "\($0.id) \($0.title)" } }

  @Test(
    "each list has the requested number of todos, in any order of requests",
    arguments: [0, 1, 10, 256, 257, 300])
  func counts(_ count: Int) {
    let lists = SeededLists()
    for asked in [count, 3, count, count] {
      let list = lists.list(count: asked)
      #expect(texts(list) == (0..<asked).map { "\($0 + 1) Todo \($0 + 1)" })
      #expect(list.made == asked)
    }
  }

  @Test("a change of one list does not change other lists")
  func changes() {
    let lists = SeededLists()
    var changed = lists.list(count: 3)
    let other = lists.list(count: 3)
    changed.apply(.renameTodo(id: "2", title: "Milk"))
    changed.apply(.removeTodo(id: "1"))
    changed.apply(.moveTodo(id: "3", before: "2"))
    #expect(texts(changed) == ["3 Todo 3", "2 Milk"])
    for list in [other, lists.list(count: 3)] {
      #expect(texts(list) == ["1 Todo 1", "2 Todo 2", "3 Todo 3"])
    }
  }
}
