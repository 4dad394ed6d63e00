// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StateMachinesTesting
import StatewireJSON
import TestSupport
import Testing

@Suite("Todo store")
struct TodoStoreTests {
  typealias State = TodoStore.State
  typealias ViewState = TodoStore.ViewState

  static let failure = ViewState.error(
    code: "repository.failed", message: "Oops something went wrong")

  // MARK: State and action

  @Test(
    "an action that sets the state sets it from any state",
    arguments: [State.Shown.loading, .content, .error],
    [ViewState.loading, .content(todos: [Todo(id: "9", title: "Nine")]), failure])
  func setState(from shown: State.Shown, to view: ViewState) {
    check(fold(.setState(view), shown), view)
  }

  @Test(
    "each change is applied to the todos",
    arguments: [
      (.addTodo(Todo(id: "4", title: "D")), "1:A 2:B 3:C 4:D"),
      (.removeTodo(id: "2"), "1:A 3:C"),
      (.renameTodo(id: "2", title: "X"), "1:A 2:X 3:C"),
      (.completeTodo(id: "2"), "1:A 2:B! 3:C"),
      (.reopenTodo(id: "3"), "1:A 2:B 3:C"),
      (.moveTodo(id: "3", before: "1"), "3:C 1:A 2:B"),
      (.moveTodo(id: "1", before: nil), "2:B 3:C 1:A"),
      // Unknown ids change nothing.
      (.removeTodo(id: "9"), "1:A 2:B 3:C"),
      (.renameTodo(id: "9", title: "X"), "1:A 2:B 3:C"),
      (.completeTodo(id: "9"), "1:A 2:B 3:C"),
      (.reopenTodo(id: "9"), "1:A 2:B 3:C"),
      (.moveTodo(id: "9", before: "1"), "1:A 2:B 3:C"),
      (.moveTodo(id: "1", before: "9"), "1:A 2:B 3:C"),
    ] as [(TodoChange, String)])
  func content(change: TodoChange, expected: String) {
    let todos = ["A", "B", "C"].enumerated().map { Todo(id: "\($0 + 1)", title: $1) }
    let state = fold(.change(change), .content, todos)
    #expect(TodoStore(repository: FailingTodoRepository()).view(of: state).text == expected)
  }

  @Test(
    "the states loading and error do not change with the todos",
    arguments: [State.Shown.loading, .error],
    [TodoChange.addTodo(Todo(id: "4", title: "D")), .removeTodo(id: "1"), .completeTodo(id: "1")])
  func notContent(shown: State.Shown, change: TodoChange) {
    check(fold(.change(change), shown), shown == .loading ? .loading : Self.failure)
  }

  // MARK: Input, effect, actions

  @Test("`stateRequested` shows loading, then the list")
  func load() async throws {
    let store = TestStore(
      TodoStore(
        repository: ScriptedRepository(load: { await $0.send(.todos([Todo(id: "1", title: "A")])) })
      ))
    try await store.send(.stateRequested)
    #expect(await store.state.shown == .loading)
    try await store.receive {
      $0.list.todos = [Todo(id: "1", title: "A")]
      $0.shown = .content
    }
    // A second load does not replace the content by `loading`.
    try await store.send(.stateRequested)
    #expect(await store.state.shown == .content)
    try await store.receive()
    try await store.finish()
  }

  @Test("after an error `stateRequested` shows loading, then the list")
  func recover() async throws {
    let results = Record<TodoResult>([.failed, .todos([Todo(id: "1", title: "A")])])
    let store = TestStore(
      TodoStore(repository: ScriptedRepository(load: { await $0.send(results.next()) })))
    try await store.send(.stateRequested)
    try await store.receive { $0.shown = .error }
    try await store.send(.stateRequested) { $0.shown = .loading }
    try await store.receive {
      $0.list.todos = [Todo(id: "1", title: "A")]
      $0.shown = .content
    }
    try await store.finish()
  }

  @Test("a cancelled load shows an error, unless a newer load runs or the list is shown")
  func cancelledLoads() async throws {
    let host = LoadingHost()
    let first = try await host.load()
    #expect(await host.shown == .loading)
    await host.cancel(first)
    #expect(await host.shown == .error)
    let second = try await host.load()
    #expect(await host.shown == .loading)
    let third = try await host.load()
    await host.cancel(second)
    #expect(await host.shown == .loading, "the newer load continues")
    await host.cancel(third)
    #expect(await host.shown == .error)
    try await host.send(.todosUpdated(todos: []))
    let reload = try await host.load()
    await host.cancel(reload)
    #expect(await host.shown == .content)
    #expect(await host.isIdle)
  }

  @Test("of several loads only the newest gives the list")
  func newestLoad() async throws {
    let results = Record<TodoResult>([
      .todos([Todo(id: "old", title: "old")]), .todos([Todo(id: "new", title: "new")]),
    ])
    let store = TestStore(
      TodoStore(
        repository: ScriptedRepository(load: { context in
          let result = results.next()
          // Ignores its cancellation, as a database in the middle of a query does.
          try? await context.sleep(for: .seconds(1))
          await context.send(result)
        })))
    try await store.send(.stateRequested)
    try await store.advance(by: .milliseconds(500))
    try await store.send(.stateRequested)
    try await store.advance(by: .seconds(1))
    try await store.receive {
      $0.list.todos = [Todo(id: "new", title: "new")]
      $0.shown = .content
    }
    try await store.finish()
  }

  @Test(
    "the store performs the operation of an input once and folds its result",
    arguments: [
      (.todoAdded(title: "X"), .add(title: "X")),
      (.todoAdded(title: "X", id: "x"), .add(title: "X", id: "x")),
      (.todoRemoved(id: "1"), .remove(id: "1")),
      (.todoRenamed(id: "1", title: "X"), .rename(id: "1", title: "X")),
      (.todoCompleted(id: "1"), .complete(id: "1")),
      (.todoReopened(id: "1"), .reopen(id: "1")),
      (.todoMoved(id: "1", before: "2"), .move(id: "1", before: "2")),
      (.todoMoved(id: "1", before: nil), .move(id: "1", before: nil)),
    ] as [(TodoInput, TodoOperation)])
  func operations(input: TodoInput, expected: TodoOperation) async throws {
    let asked = Record<TodoOperation>([])
    for result in [TodoResult.done, .failed, .changed(.addTodo(Todo(id: "7", title: "seven")))] {
      let store = TestStore(
        TodoStore(
          repository: ScriptedRepository(change: { operation in
            asked.add(operation)
            return result
          })))
      try await store.send(.todosUpdated(todos: [Todo(id: "1", title: "A")])) {
        $0.list.todos = [Todo(id: "1", title: "A")]
        $0.shown = .content
      }
      try await store.send(input)
      try await store.advance(by: .seconds(1))
      switch result {
      // The change itself comes from the stream of changes.
      case .done: break
      case .failed: try await store.receive { $0.shown = .error }
      default: try await store.receive { $0.list.apply(.addTodo(Todo(id: "7", title: "seven"))) }
      }
      try await store.finish()
    }
    #expect(asked.all == [expected, expected, expected])
    #expect(expected.name.hasSuffix("Todo"))
  }

  @Test("concurrent changes do not cancel one another")
  func concurrentAdds() async throws {
    let store = TestStore(
      TodoStore(
        repository: ScriptedRepository(change: { operation in
          guard case .add(let title, _) = operation else { return .failed }
          return .changed(.addTodo(Todo(id: title, title: title)))
        })))
    try await store.send(.todosUpdated(todos: [])) { $0.shown = .content }
    for title: TodoTitle in ["a", "b", "c"] { try await store.send(.todoAdded(title: title)) }
    try await store.send(.stateRequested)
    try await store.advance(by: .seconds(1))
    for title in ["a", "b", "c"] {
      try await store.receive { $0.list.apply(.addTodo(Todo(id: title, title: title))) }
    }
    try await store.finish()
  }

  @Test("the store folds changes from the stream after the list, until it loads again")
  func changeStream() async throws {
    let store = TestStore(
      TodoStore(
        repository: ScriptedRepository(load: { context in
          await context.becomeFeed(sending: .todos([]))
          do { try await context.sleep(for: .seconds(5)) } catch { return }
          await context.send(.changed(.addTodo(Todo(id: "x", title: "by another client"))))
        })))
    try await store.send(.stateRequested)
    try await store.receive { $0.shown = .content }
    try await store.send(.todoAdded(title: "X"))
    try await store.advance(by: .seconds(5))
    try await store.receive { $0.list.apply(.addTodo(Todo(id: "x", title: "by another client"))) }
    try await store.finish()
  }

  @Test("an operation of a failing repository shows the error for every input")
  func failing() async throws {
    let inputs: [TodoInput] = [
      .stateRequested, .todoAdded(title: "X"), .todoRemoved(id: "1"), .todoCompleted(id: "1"),
      .todoReopened(id: "1"), .todoRenamed(id: "1", title: "X"), .todoMoved(id: "1", before: nil),
    ]
    for input in inputs {
      let store = TestStore(TodoStore(repository: FailingTodoRepository()))
      try await store.send(input) { $0.shown = .error }
      try await store.send(.todosUpdated(todos: [])) { $0.shown = .content }
      try await store.finish()
    }
  }

  // MARK: A list in memory, from text to patch

  @Test("a list in memory has its initial todos, responds immediately and continues its ids")
  func memory() async throws {
    await check(
      count: 2,
      [
        #"{"type":"stateRequested"}"#, #"{"type":"todoAdded","title":"Milk"}"#,
        #"{"type":"todoRemoved","id":"3"}"#, #"{"type":"todoAdded","title":" Eggs "}"#,
        #"{"type":"todoRenamed","id":"2","title":"Two"}"#, #"{"type":"todoCompleted","id":"1"}"#,
        #"{"type":"todoReopened","id":"1"}"#, #"{"type":"todoMoved","id":"4","before":"1"}"#,
        #"{"type":"todoMoved","id":"4","before":null}"#,
      ],
      [
        #"{"type":"loading"}"#,
        #"[{"op":"replace","path":"","value":{"type":"content","todos":["#
          + #"{"id":"1","title":"Todo 1","completed":false},"#
          + #"{"id":"2","title":"Todo 2","completed":false}]}}]"#,
        #"[{"op":"add","path":"/todos/2","value":{"id":"3","title":"Milk","completed":false}}]"#,
        #"[{"op":"remove","path":"/todos/2"}]"#,
        #"[{"op":"add","path":"/todos/2","value":{"id":"4","title":" Eggs ","completed":false}}]"#,
        #"[{"op":"replace","path":"/todos/1/title","value":"Two"}]"#,
        #"[{"op":"replace","path":"/todos/0/completed","value":true}]"#,
        #"[{"op":"replace","path":"/todos/0/completed","value":false}]"#,
        #"[{"op":"move","from":"/todos/2","path":"/todos/0"}]"#,
        #"[{"op":"move","from":"/todos/0","path":"/todos/2"}]"#,
      ])
  }

  @Test("a todo keeps the id of its input, and an id that exists already changes nothing")
  func ownIDs() async throws {
    await check(
      count: 1,
      [
        #"{"type":"stateRequested"}"#, #"{"type":"todoAdded","title":"Milk","id":"2"}"#,
        #"{"type":"todoAdded","title":"Milk","id":"2"}"#,
        #"{"type":"todoAdded","title":"another","id":"1"}"#,
        #"{"type":"todoAdded","title":"Bread","id":null}"#,
        #"{"type":"todoAdded","title":"é","id":"\u00e9"}"#,
        #"{"type":"todoAdded","title":"e","id":"e\u0301"}"#,
      ],
      [
        #"{"type":"loading"}"#,
        #"[{"op":"replace","path":"","value":{"type":"content","todos":["#
          + #"{"id":"1","title":"Todo 1","completed":false}]}}]"#,
        #"[{"op":"add","path":"/todos/1","value":{"id":"2","title":"Milk","completed":false}}]"#,
        #"[{"op":"add","path":"/todos/2","value":{"id":"3","title":"Bread","completed":false}}]"#,
        #"[{"op":"add","path":"/todos/3","value":{"id":"é","title":"é","completed":false}}]"#,
        "[{\"op\":\"add\",\"path\":\"/todos/4\",\"value\":"
          + "{\"id\":\"e\u{301}\",\"title\":\"e\",\"completed\":false}}]",
      ])
  }

  @Test("equal states are not published: reloads, unknown ids, changes without effect")
  func unchanged() async throws {
    await check(
      count: 1,
      [
        #"{"type":"stateRequested"}"#, #"{"type":"stateRequested"}"#,
        #"{"type":"todoRemoved","id":"9"}"#, #"{"type":"todoRenamed","id":"9","title":"X"}"#,
        #"{"type":"todoRenamed","id":"1","title":"Todo 1"}"#, #"{"type":"todoReopened","id":"1"}"#,
        #"{"type":"todoMoved","id":"1"}"#, #"{"type":"todoMoved","id":"1","before":"9"}"#,
      ],
      [
        #"{"type":"loading"}"#,
        #"[{"op":"replace","path":"","value":{"type":"content","todos":["#
          + #"{"id":"1","title":"Todo 1","completed":false}]}}]"#,
      ])
  }

  @Test("a todo that is added while a list in memory is loading is kept")
  func addWhileLoading() async throws {
    await check(
      count: 0, [#"{"type":"todoAdded","title":"early"}"#, #"{"type":"stateRequested"}"#],
      [
        #"{"type":"loading"}"#,
        #"[{"op":"replace","path":"","value":{"type":"content","todos":["#
          + #"{"id":"1","title":"early","completed":false}]}}]"#,
      ])
  }

  @Test("an error is published with its code, and a new load with its state")
  func errors() async throws {
    let texts = try await Published<TodoStore>().texts(
      TodoStore(repository: FailingTodoRepository()),
      [#"{"type":"todoAdded","title":"x"}"#, #"{"type":"stateRequested"}"#])
    let error =
      #"[{"op":"replace","path":"","value":{"type":"error","code":"repository.failed","#
      + #""message":"Oops something went wrong"}}]"#
    let loading = #"[{"op":"replace","path":"","value":{"type":"loading"}}]"#
    #expect(texts == [#"{"type":"loading"}"#, error, loading, error])
  }

  @Test("`todosUpdated` is refused from a frontend and accepted from inside the process")
  func todosUpdated() async throws {
    await #expect(throws: InputError.self) {
      try await Published<TodoStore>().texts(
        TodoStore(repository: MemoryTodoRepository()), [#"{"type":"todosUpdated","todos":[]}"#])
    }
    // Regression: the next id could be the id of an existing todo, and replaced that todo.
    let store = TestStore(TodoStore(repository: MemoryTodoRepository()))
    let brought = [Todo(id: "1", title: "A"), Todo(id: "3", title: "C")]
    try await store.send(.todosUpdated(todos: brought)) {
      $0.list.todos = KeyedList(brought)
      $0.shown = .content
    }
    for id in ["2", "4", "5"] {
      try await store.send(.todoAdded(title: "new")) {
        $0.list.apply(.addTodo(Todo(id: id, title: "new")))
      }
    }
    try await store.finish()
  }

  @Test("a rename at 1,000 todos is one operation of less than 300 bytes")
  func renameIsSmall() async throws {
    let texts = try await Published<TodoStore>().texts(
      TodoStore(repository: MemoryTodoRepository(), list: MemoryTodoRepository.list(count: 1_000)),
      [#"{"type":"stateRequested"}"#, #"{"type":"todoRenamed","id":"500","title":"Bread"}"#])
    #expect(texts.last == #"[{"op":"replace","path":"/todos/499/title","value":"Bread"}]"#)
  }

  // MARK: -

  private func fold(
    _ action: TodoStore.Action, _ shown: State.Shown, _ todos: [Todo] = [Todo(id: "1", title: "A")]
  ) -> State {
    let machine = TodoStore(repository: FailingTodoRepository(), list: TodoList(KeyedList(todos)))
    var state = machine.initialState
    state.shown = shown
    machine.reduce(&state, action)
    return state
  }

  private func check(
    _ state: State, _ view: ViewState, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(
      TodoStore(repository: FailingTodoRepository()).view(of: state) == view,
      sourceLocation: location)
  }

  /// Checks what a list in memory publishes for some inputs.
  private func check(
    count: Int, _ inputs: [String], _ expected: [String],
    at location: SourceLocation = #_sourceLocation
  ) async {
    await #expect(throws: Never.self, sourceLocation: location) {
      let machine = TodoStore(
        repository: MemoryTodoRepository(), list: MemoryTodoRepository.list(count: count))
      let texts = try await Published<TodoStore>().texts(machine, inputs)
      #expect(texts == expected, sourceLocation: location)
    }
  }
}

extension TodoStore.ViewState {
  /// The todos in one line, each completed one with `!`.
  fileprivate var text: String {
    guard case .content(let todos) = self else { return "\(self)" }
    return todos.map { "\($0.id):\($0.title)\($0.completed ? "!" : "")" }.joined(separator: " ")
  }
}

/// A host of a list whose loads never end by themselves.
private actor LoadingHost: StoreHost {
  private let clock = ManualClock()
  private var open: Store<TodoStore>?

  private func store() throws -> Store<TodoStore> {
    if let open { return open }
    let repository = ScriptedRepository(load: { try? await $0.sleep(for: .seconds(1)) })
    let store = try Store(
      TodoStore(repository: repository), number: StoreNumber(1), host: self,
      environment: StoreEnvironment(clock: clock))
    open = store
    return store
  }

  func deliver(_ message: EffectMessage) { open?.receive(message) }

  var shown: TodoStore.State.Shown? { open?.state.shown }
  var isIdle: Bool { open?.isIdle ?? true }

  func send(_ input: TodoInput) throws { try store().send(input) }

  func load() throws -> InputID {
    try #require(try store().send(.stateRequested)).inputID
  }

  func cancel(_ inputID: InputID) { open?.cancel(inputID) }
}
