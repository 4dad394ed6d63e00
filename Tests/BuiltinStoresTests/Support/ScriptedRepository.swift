// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines

/// A repository that a test controls; it responds asynchronously.
struct ScriptedRepository: TodoRepository {
  /// The work of each call of `getTodos`.
  var load: @Sendable (_ context: EffectContext<TodoResult>) async -> Void = { _ in }
  var change: @Sendable (_ operation: TodoOperation) -> TodoResult = { _ in .done }

  func getTodos(_ held: TodoList) -> Effect<TodoResult> { .run("getTodos", load).latest("todos") }

  func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    .run(operation.name) { [change] context in
      do { try await context.sleep(for: .seconds(1)) } catch { return }
      await context.send(change(operation))
    }
  }
}
