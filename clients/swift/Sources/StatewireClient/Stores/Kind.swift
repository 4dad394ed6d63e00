// SPDX-License-Identifier: Apache-2.0

public import StatewireProtocol

/// A kind of store, with the types of what it is sent and of what is seen of it.
///
///     extension Kind where Input == StopwatchInput, State == StopwatchState {
///       static var stopwatch: Kind { Kind("stopwatch") }
///     }
///
/// - Shape: `Input` encodes as one object `{"type": String, …}`, and `State` decodes what the store
///   shows; a `JSONValue` may stand for either.
public struct Kind<Input: Encodable & Sendable, State: Decodable & Sendable>: Sendable {
  /// What the server calls it.
  public let name: String

  public init(_ name: String) { self.name = name }
}

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
