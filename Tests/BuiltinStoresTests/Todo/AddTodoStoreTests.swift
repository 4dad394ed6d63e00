// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StateMachinesTesting
import StatewireJSON
import Testing

@Suite("Add-todo store")
struct AddTodoStoreTests {
  @Test(
    "a title is valid if a todo may have it",
    arguments: [
      ("Milk", true), (" Milk ", true), ("", false), (" \n\t\u{3000}", false), ("\u{200B}", true),
      (String(repeating: "x", count: 4_096), true), (String(repeating: "x", count: 4_097), false),
    ])
  func validate(title: String, valid: Bool) async throws {
    let store = TestStore(AddTodoStore(repository: FailingTodoRepository()))
    try await store.send(.validate(title: title)) { $0.shown.valid = valid }
    try await store.finish()
  }

  @Test(
    "the form is loading while the todo is added, and is then dismissed", arguments: [true, false])
  func add(changeComesAlong: Bool) async throws {
    let store = TestStore(
      AddTodoStore(
        repository: ScriptedRepository(change: { operation in
          #expect(operation == .add(title: "Milk"))
          return changeComesAlong ? .changed(.addTodo(Todo(id: "1", title: "Milk"))) : .done
        })))
    try await store.send(.addTodo(title: "Milk")) {
      $0.latest = 1
      $0.adding = [1]
      $0.shown.loading = true
    }
    try await store.advance(by: .seconds(1))
    try await store.receive(.addingEnded(1, added: true)) {
      $0.adding = []
      $0.shown.loading = false
      $0.shown.dismiss = true
    }
    // A later validation resets `dismiss`.
    try await store.send(.validate(title: "")) { $0.shown.dismiss = false }
    try await store.finish()
  }

  @Test("the form is not dismissed if adding fails")
  func failing() async throws {
    let store = TestStore(
      AddTodoStore(repository: ScriptedRepository(change: { _ in .failed })))
    try await store.send(.addTodo(title: "Milk")) {
      $0.latest = 1
      $0.adding = [1]
      $0.shown.loading = true
    }
    try await store.advance(by: .seconds(1))
    try await store.receive {
      $0.adding = []
      $0.shown.loading = false
    }
    try await store.finish()
  }

  @Test("the form is loading until the last of several todos has been added")
  func several() async throws {
    let store = TestStore(
      AddTodoStore(
        repository: ScriptedRepository(change: { $0 == .add(title: "Bread") ? .failed : .done })),
      exhaustive: false)
    try await store.send(.addTodo(title: "Milk"))
    try await store.advance(by: .milliseconds(500))
    try await store.send(.addTodo(title: "Bread"))
    try await store.advance(by: .milliseconds(500))
    try await store.receive(.addingEnded(1, added: true))
    #expect(
      await store.state.shown == AddTodoViewState(valid: false, loading: true, dismiss: true))
    try await store.advance(by: .milliseconds(500))
    try await store.receive(.addingEnded(2, added: false))
    #expect(
      await store.state.shown == AddTodoViewState(valid: false, loading: false, dismiss: true))
    try await store.finish()
  }

  @Test("the end of one addition counts once, also if a second end is reported")
  func twice() {
    let machine = AddTodoStore(repository: FailingTodoRepository())
    var state = machine.initialState
    for action in [
      .addingBegan(1), .addingBegan(2), .addingEnded(1, added: true), .addingEnded(1, added: false),
    ] as [AddTodoStore.Action] {
      machine.reduce(&state, action)
    }
    #expect(machine.view(of: state).loading)
    machine.reduce(&state, .addingEnded(2, added: false))
    #expect(!machine.view(of: state).loading)
  }

  @Test("the form is not loading after the addition was cancelled")
  func cancelled() async throws {
    let host = CancellingHost()
    #expect(
      try await host.states() == [
        #"{"valid":false,"loading":false,"dismiss":false}"#,
        #"{"valid":false,"loading":true,"dismiss":false}"#,
        #"{"valid":false,"loading":false,"dismiss":false}"#,
      ])
  }

  @Test("the form publishes each step, also if the result is immediate")
  func publications() async throws {
    let add = #"{"type":"addTodo","title":"Milk"}"#
    let began = #"[{"op":"replace","path":"/loading","value":true}]"#
    #expect(
      try await Published<AddTodoStore>().texts(
        AddTodoStore(repository: MemoryTodoRepository()),
        [#"{"type":"validate","title":"Milk"}"#, #"{"type":"validate","title":"Milch"}"#, add])
        == [
          #"{"valid":false,"loading":false,"dismiss":false}"#,
          #"[{"op":"replace","path":"/valid","value":true}]"#, began,
          #"[{"op":"replace","path":"","value":{"valid":true,"loading":false,"dismiss":true}}]"#,
        ])
    #expect(
      try await Published<AddTodoStore>().texts(
        AddTodoStore(repository: FailingTodoRepository()), [add])
        == [
          #"{"valid":false,"loading":false,"dismiss":false}"#, began,
          #"[{"op":"replace","path":"/loading","value":false}]"#,
        ])
  }
}

/// A host that begins to add a todo and cancels the input.
private actor CancellingHost: StoreHost {
  func deliver(_ message: EffectMessage) {}

  func states() throws -> [String] {
    let store = try Store(
      AddTodoStore(repository: ScriptedRepository()), number: StoreNumber(1), host: self,
      environment: StoreEnvironment(clock: ManualClock()))
    var states: [String] = []
    _ = store.listen { publication in
      var state = JSONWriter()
      publication.writeState(to: &state)
      states.append(state.string())
    }
    let result = try #require(try store.send(.addTodo(title: "Milk")))
    store.cancel(result.inputID)
    return states
  }
}
