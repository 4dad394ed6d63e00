// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// The todo list: folds the results of a repository into the state that frontends see.
///
/// The list is part of every state, but shown only in `content`. The store continues after each
/// failure: after an error, `stateRequested` loads again.
public struct TodoStore: StateMachine {
  /// The inputs of kind `todo`.
  public typealias Input = TodoInput
  /// The view state of kind `todo`.
  public typealias ViewState = TodoViewState<KeyedList<Todo>>

  /// An action of the todo list.
  public enum Action: Sendable {
    // Indirect, because actions are copied often and most of them are small.
    indirect case setState(ViewState)
    /// Shows a list that was loaded.
    indirect case showTodos(TodoList)
    /// Shows the list that the store holds.
    case showList
    /// Applies a change to the list.
    case change(TodoChange)
    /// Adds a todo. If `id` is nil, the list makes the id.
    case makeTodo(title: String, id: String?)
    /// A load was cancelled.
    case loadCancelled(Generation)
  }

  /// The number of a load that began with `loading`, so that a replaced load changes nothing.
  public typealias Generation = Int

  /// The folded state of the todo list.
  public struct State: Codable, Sendable {
    /// The case of the view state that is shown.
    public enum Shown: String, Codable, Sendable { case loading, content, error }

    /// The case of the view state that is shown.
    public var shown = Shown.loading
    /// The list, shown or not.
    public var list: TodoList
    /// The number of the latest load that began with `loading`. Not persisted: no load continues in
    /// another process.
    public var generation: Generation = 0

    private enum CodingKeys: CodingKey { case shown, list }
  }

  // Computed: a stored state would keep all its todos in memory as long as the machine exists.
  /// The state before the list is loaded.
  public var initialState: State { State(list: list()) }
  private let list: @Sendable () -> TodoList
  private let repository: any TodoRepository
  private let limits: TextLimits

  /// Creates the machine.
  ///
  /// - Parameters:
  ///   - repository: The repository of the list.
  ///   - list: The list before it is loaded; for a list in memory, the whole list.
  ///   - limits: The longest titles.
  public init(
    repository: any TodoRepository,
    list: @autoclosure @escaping @Sendable () -> TodoList = TodoList(),
    limits: TextLimits = TextLimits()
  ) {
    self.repository = repository
    self.limits = limits
    self.list = list
  }

  /// Returns the reason to refuse a title that is too long; else nil.
  public func refusal(of input: TodoInput) -> InputRefusal? {
    switch input {
    case .todoAdded(let title, _), .todoRenamed(_, let title): limits.refusal(of: title)
    case .stateRequested, .todoRemoved, .todoCompleted, .todoReopened, .todoMoved, .todosUpdated:
      nil
    }
  }

  /// Returns the reason to refuse a title that is too long, or an operation for which there is no
  /// room.
  public func refusal(of input: TodoInput, in state: State) -> InputRefusal? {
    if let refusal = refusal(of: input) { return refusal }
    switch input {
    case .todoAdded(let title, let id):
      return repository.refusal(of: .add(title: title.text, id: id?.text), on: state.list)
    case .todoRenamed(let id, let title):
      return repository.refusal(of: .rename(id: id, title: title.text), on: state.list)
    case .stateRequested, .todoRemoved, .todoCompleted, .todoReopened, .todoMoved, .todosUpdated:
      return nil
    }
  }

  /// Returns the effect of an input in the current state.
  public func effect(of input: TodoInput, in state: State) -> Effect<Action> {
    switch input {
    case .stateRequested:
      // A reload does not hide a list that is shown. Only the newest load is folded; the feed of an
      // older one continues until the new one takes over.
      let isShown = state.shown == .content
      let load = named("getTodos", repository.getTodos(state.list))
        .onCancel(.loadCancelled(isShown ? state.generation : state.generation + 1))
        .refreshing("todos")
      return isShown ? load : .several(.action(.setState(.loading)), load)
    case .todoAdded(let title, let id):
      return perform(.add(title: title.text, id: id?.text), state)
    case .todoRemoved(let id): return perform(.remove(id: id), state)
    case .todoRenamed(let id, let title): return perform(.rename(id: id, title: title.text), state)
    case .todoCompleted(let id): return perform(.complete(id: id), state)
    case .todoReopened(let id): return perform(.reopen(id: id), state)
    case .todoMoved(let id, let before): return perform(.move(id: id, before: before), state)
    case .todosUpdated(let todos): return .action(.setState(.content(todos: KeyedList(todos))))
    }
  }

  /// Folds one action into the state.
  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .setState(.loading):
      state.shown = .loading
      state.generation += 1
    case .setState(.content(let todos)):
      state.list.todos = todos
      state.shown = .content
    case .setState(.error):
      state.shown = .error
    case .showTodos(let list):
      state.list.show(list)
      state.shown = .content
    case .showList:
      state.shown = .content
    case .change(let change):
      state.list.apply(change)
    case .makeTodo(let title, let id):
      state.list.make(title: title, id: id)
    case .loadCancelled(let generation):
      // Nothing loads now: as after a failed load, the frontend offers to load again.
      if state.shown == .loading, state.generation == generation { state.shown = .error }
    }
  }

  /// Returns the view state of a state.
  public func view(of state: State) -> ViewState {
    switch state.shown {
    case .loading: .loading
    case .content: .content(todos: state.list.todos)
    case .error: Self.failure
    }
  }

  private func perform(_ operation: TodoOperation, _ state: State) -> Effect<Action> {
    guard let result = repository.result(of: operation, on: state.list) else {
      return named(operation.name, repository.perform(operation, on: state.list))
    }
    guard let action = Self.action(for: result) else {
      return Effect.none.operation(operation.name, Self.failing)
    }
    return .action(action, operation: operation.name, Self.failing)
  }

  private func named(_ name: String, _ results: Effect<TodoResult>) -> Effect<Action> {
    results.compactMap(Self.action(for:)).operation(name, Self.failing)
  }

  private static let failing = Failing(failure: failed) {
    if case .setState(.error) = $0 { true } else { false }
  }

  static let failure = ViewState.error(
    code: Text.repositoryFailed.code, message: Text.repositoryFailed.message)

  private static let failed = Action.setState(failure)

  private static func action(for result: TodoResult) -> Action? {
    switch result {
    case .todos(let list): .showTodos(list)
    case .held: .showList
    case .changed(let change): .change(change)
    case .made(let title, let id): .makeTodo(title: title, id: id)
    case .done, .refused: nil
    case .failed: failed
    }
  }
}
