// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// The form that adds a todo to a list: whether the title will do, and when it has been added.
public struct AddTodoStore: StateMachine {
  public typealias Input = AddTodoInput
  public typealias ViewState = AddTodoViewState

  public enum Action: Equatable, Sendable {
    case setValid(Bool)
    case addingBegan(Int)
    case addingEnded(Int, added: Bool)
  }

  public struct State: Codable, Equatable, Sendable {
    public var shown = AddTodoViewState()
    // Not persisted: a restarted store numbers the restarted inputs.
    /// The number of the latest todo to add.
    public var latest = 0
    /// The numbers of the todos that are being added.
    public var adding: Set<Int> = []

    public init() {}

    private enum CodingKeys: CodingKey { case shown }
  }

  public let initialState = State()
  private let repository: any TodoRepository
  private let limits: TextLimits

  /// - Parameters:
  ///   - repository: Where the list is kept.
  ///   - limits: How long titles may be.
  public init(repository: any TodoRepository, limits: TextLimits = TextLimits()) {
    self.repository = repository
    self.limits = limits
  }

  public func refusal(of input: AddTodoInput) -> InputRefusal? {
    if case .addTodo(let title) = input { limits.refusal(of: title) } else { nil }
  }

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
      repository.perform(.add(title: title.text, id: nil), on: TodoList()).compactMap { answer in
        switch answer {
        case .changed, .made, .done: .addingEnded(number, added: true)
        case .failed, .refused: .addingEnded(number, added: false)
        case .todos, .held: nil
        }
      }
      .operation("addTodo", failing: .addingEnded(number, added: false))
      // Whether it was added all the same, the list shows.
      .onCancel(.addingEnded(number, added: false))
    )
  }

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

  public func view(of state: State) -> AddTodoViewState { state.shown }
}
