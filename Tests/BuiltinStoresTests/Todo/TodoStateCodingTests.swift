// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import Testing

@Suite("Todo state coding")
struct TodoStateCodingTests {
  /// A wrapper that hides the direct writer of a value, so that its `Codable` conformance is used.
  private struct Coded<Value: Encodable>: Encodable {
    let value: Value
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  @Test(
    "the direct writer gives the same text as `Codable`, and the state is read back",
    arguments: [TodoStore.State.Shown.loading, .content, .error])
  func writing(shown: TodoStore.State.Shown) throws {
    var state = TodoStore(repository: MemoryTodoRepository()).initialState
    state.shown = shown
    for count in 0..<3 {
      let text = state.jsonBytes()
      #expect(try text == JSON.encode(Coded(value: state)))
      let read = try JSON.decode(TodoStore.State.self, from: text)
      #expect(read.shown == shown && read.list.made == count)
      #expect(Array(read.list.todos) == Array(state.list.todos))
      state.list.make(title: "\u{22}Milk\u{22} \(count)")
    }
  }
}
