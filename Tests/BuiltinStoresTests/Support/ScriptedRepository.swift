// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines

/// A repository that a test controls; it responds asynchronously.
final class ScriptedRepository: TodoRepository {
  /// The work of each call of `getTodos`.
  private let load: @Sendable (_ context: EffectContext<TodoResult>) async -> Void
  private let change: @Sendable (_ operation: TodoOperation) -> TodoResult

  init(
    load: @escaping @Sendable (_ context: EffectContext<TodoResult>) async -> Void = { _ in },
    change: @escaping @Sendable (_ operation: TodoOperation) -> TodoResult = { _ in .done }
  ) {
    self.load = load
    self.change = change
  }

  func getTodos(_ held: TodoList) -> Effect<TodoResult> { .run("getTodos", load).latest("todos") }

  func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    .run(operation.name) { [change] context in
      do { try await context.sleep(for: .seconds(1)) } catch { return }
      await context.send(change(operation))
    }
  }
}
