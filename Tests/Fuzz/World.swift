// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Sessions
import StateMachines
import StatewireJSON
import StatewireProtocol

/// A shard under test with the built-in stores in memory, and a store that keeps any JSON value.
enum World {
  static func shard(_ loop: WorkLoop, _ limits: SessionLimits) -> Shard {
    let rest = IdleTracker(checkThread: {}, execute: { loop.execute($0) })
    return Shard(testing: rest, kinds: kinds, limits: limits)
  }

  // A client may request a hundred thousand todos, which would take all the time of the fuzzer.
  private static let mostTodos = 40

  private static var kinds: [StoreKind] {
    [
      StoreKind("todo", configuration: TodoConfiguration.self) { configuration in
        let count = if case .memory(let count) = configuration.source { count } else { 0 }
        return TodoStore(
          repository: MemoryTodoRepository(),
          list: MemoryTodoRepository.list(count: min(count, mostTodos)))
      },
      StoreKind("addTodo", configuration: TodoConfiguration.self) { _ in
        AddTodoStore(repository: MemoryTodoRepository())
      },
      StoreKind("form") { FormStore() },
      StoreKind("balance") {
        BalanceStore(
          service: FixedBalanceService(
            .response(
              BalanceResponse(
                balance: .zero, date: Timestamp(secondsSinceEpoch: 1_622_000_000)))))
      },
      StoreKind(
        "loading", configuration: LoaderConfiguration.self, sharing: LoaderCache.init
      ) { configuration, cache throws(ConfigurationError) in
        try LoadingStore(configuration: configuration, sources: ["s": Source()], cache: cache)
      },
      StoreKind("loose") { Loose() },
    ]
  }
}

/// A source that has its value immediately.
private struct Source: LoadingSource {
  func load(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    await report(LoadingProgress(percent: 50))
    return LoadedValue(text: "s")
  }
}

/// A store that keeps any JSON value.
private struct Loose: StateMachine {
  enum Input: Codable, Sendable { case keep(value: JSONValue) }
  struct State: Codable, Sendable { var kept: JSONValue? }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .keep(let value): state.kept = value
    }
  }
}
