// SPDX-License-Identifier: Apache-2.0

public import StatewireProtocol

extension Kind where Input == TodoInput, State == TodoViewState<[Todo]> {
  /// The kind of todo lists.
  public static var todo: Kind { Kind("todo") }
}

extension Kind where Input == AddTodoInput, State == AddTodoViewState {
  /// The kind of forms that add a todo.
  public static var addTodo: Kind { Kind("addTodo") }
}

extension Kind where Input == FormInput, State == FormViewState {
  /// The kind of forms with two entries; its events are `FormEvent`s.
  public static var form: Kind { Kind("form") }
}

extension Kind where Input == BalanceInput, State == BalanceViewState {
  /// The kind of account balances.
  public static var balance: Kind { Kind("balance") }
}

extension Kind where Input == LoadingInput, State == LoadingViewState {
  /// The kind of loaders.
  public static var loading: Kind { Kind("loading") }
}
