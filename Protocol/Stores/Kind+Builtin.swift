// SPDX-License-Identifier: Apache-2.0

public import StatewireProtocol

extension Kind where Input == TodoInput, State == TodoViewState<[Todo]> {
  /// A list of todos.
  public static var todo: Kind { Kind("todo") }
}

extension Kind where Input == AddTodoInput, State == AddTodoViewState {
  /// The form that adds a todo.
  public static var addTodo: Kind { Kind("addTodo") }
}

extension Kind where Input == FormInput, State == FormViewState {
  /// A form of two entries; its events are `FormEvent`s.
  public static var form: Kind { Kind("form") }
}

extension Kind where Input == BalanceInput, State == BalanceViewState {
  /// A balance.
  public static var balance: Kind { Kind("balance") }
}

extension Kind where Input == LoadingInput, State == LoadingViewState {
  /// A loader.
  public static var loading: Kind { Kind("loading") }
}
