// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// The form that adds a todo to a list: shows if the title is valid, and when the todo was added.
public struct AddTodoStore: StateMachine {
  /// The inputs of kind `addTodo`.
  public typealias Input = AddTodoInput
  /// The view state of kind `addTodo`.
  public typealias ViewState = AddTodoViewState

  /// An action of the form.
  public enum Action: Equatable, Sendable {
    /// The title was validated.
    case setValid(Bool)
    /// Adding the todo with a number begins.
    case addingBegan(Int)
    /// Adding the todo with a number ends.
    case addingEnded(Int, added: Bool)
  }

  /// The folded state of the form.
  public struct State: Codable, Equatable, Sendable {
    /// The view state.
    public var shown = AddTodoViewState()
    // The two properties below are not persisted: a restarted store numbers the restarted inputs.
    /// The number of the latest todo to add.
    public var latest = 0
    /// The numbers of the todos that are being added.
    public var adding: Set<Int> = []

    /// Creates the initial state.
    public init() {}

    private enum CodingKeys: CodingKey { case shown }
  }

  /// The state of an empty form.
  public let initialState = State()
  private let repository: any TodoRepository
  private let limits: TextLimits

  /// Creates the machine.
  ///
  /// - Parameters:
  ///   - repository: The repository of the list.
  ///   - limits: The longest titles.
  public init(repository: any TodoRepository, limits: TextLimits = TextLimits()) {
    self.repository = repository
    self.limits = limits
  }

  /// Returns the reason to refuse a title that is too long; else nil.
  public func refusal(of input: AddTodoInput) -> InputRefusal? {
    if case .addTodo(let title) = input { limits.refusal(of: title) } else { nil }
  }

  /// Returns the effect of an input in the current state.
  public func effect(of input: AddTodoInput, in state: State) -> Effect<Action> {
    switch input {
    case .validate(let title):
      .action(.setValid((try? TodoTitle(title)).map { limits.refusal(of: $0) == nil } ?? false))
    case .addTodo(let title): add(title, number: state.latest + 1)
    }
  }

  private func add(_ title: TodoTitle, number: Int) -> Effect<Action> {
    .several(
      .action(.addingBegan(number)),
      repository.perform(.add(title: title.text, id: nil), on: TodoList()).compactMap { result in
        switch result {
        case .changed, .made, .done: .addingEnded(number, added: true)
        case .failed, .refused: .addingEnded(number, added: false)
        case .todos, .held: nil
        }
      }
      .operation("addTodo", failing: .addingEnded(number, added: false))
      // If the todo was added although the operation was cancelled, the list shows it.
      .onCancel(.addingEnded(number, added: false))
    )
  }

  /// Folds one action into the state.
  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .setValid(let valid):
      state.shown.valid = valid
      state.shown.dismiss = false
    case .addingBegan(let number):
      state.latest = number
      state.adding.insert(number)
      state.shown.loading = true
    case .addingEnded(let number, let added):
      state.adding.remove(number)
      state.shown.loading = !state.adding.isEmpty
      if added { state.shown.dismiss = true }
    }
  }

  /// Returns the view state of a state.
  public func view(of state: State) -> AddTodoViewState { state.shown }
}
