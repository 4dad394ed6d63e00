// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// The form that adds a todo to a list: whether the title will do, and when it has been added.
public struct AddTodoStore: StateMachine {
  public typealias Input = AddTodoInput
  public typealias State = AddTodoViewState

  public enum Action: Equatable, Sendable {
    case setValid(Bool)
    case addingBegan
    case addingEnded(added: Bool)
  }

  public let initialState = AddTodoViewState()
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
    case .addTodo(let title):
      .several(
        .action(.addingBegan),
        repository.perform(.add(title: title.text, id: nil), on: TodoList()).compactMap { answer in
          switch answer {
          case .changed, .made, .done: .addingEnded(added: true)
          case .failed: .addingEnded(added: false)
          case .todos, .held: nil
          }
        }
        .operation("addTodo", failing: .addingEnded(added: false))
        // Whether it was added all the same, the list shows.
        .onCancel(.addingEnded(added: false))
      )
    }
  }

  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .setValid(let valid):
      state.valid = valid
      state.dismiss = false
    case .addingBegan:
      state.loading = true
    case .addingEnded(let added):
      state.loading = false
      if added { state.dismiss = true }
    }
  }
}
