// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import Sessions

extension StoreKind {
  /// The built-in kinds: `todo`, `addTodo`, `form`, `balance` and `loading`.
  ///
  /// - Parameters:
  ///   - lists: The todo lists that have a name.
  ///   - balance: The source of the balance.
  ///   - zone: Where the people are that read the balance's texts.
  ///   - sources: What loaders may load.
  ///   - limits: How long titles and entries may be.
  ///   - todoLimits: How large lists in memory may be.
  public static func builtin(
    lists: any TodoLists, balance: any BalanceService, zone: TimeZoneRule = .utc,
    sources: LoadingSources = [:], limits: TextLimits = TextLimits(),
    todoLimits: TodoLimits = TodoLimits()
  ) -> [StoreKind] {
    let room = TodoRoom(todoLimits)
    let seeded = SeededLists()
    return [
      StoreKind(
        "todo", configuration: TodoConfiguration.self, sharingWithin: room.session(of:),
        admitting: checkRoom, preparing: seeded.preparation(for:)
      ) { configuration, room in
        switch configuration.source {
        case .list(let name):
          TodoStore(repository: lists.repository(list: name), limits: limits)
        case .memory(let count):
          TodoStore(
            repository: MemoryTodoRepository(
              in: room, size: MemoryTodoRepository.size(count: count)),
            list: seeded.list(count: count), limits: limits)
        }
      },
      StoreKind("addTodo", configuration: TodoConfiguration.self) { configuration in
        switch configuration.source {
        case .list(let name):
          AddTodoStore(repository: lists.repository(list: name), limits: limits)
        case .memory: AddTodoStore(repository: MemoryTodoRepository(), limits: limits)
        }
      },
      StoreKind("form") { FormStore(limits: limits) },
      StoreKind("balance") { BalanceStore(service: balance, zone: zone) },
      StoreKind(
        "loading", configuration: LoaderConfiguration.self, sharing: LoaderCache.init
      ) { configuration, cache throws(ConfigurationError) in
        try LoadingStore(configuration: configuration, sources: sources, cache: cache)
      },
    ]
  }

  /// Makes sure that a list in memory fits in.
  @Sendable
  private static func checkRoom(
    for configuration: TodoConfiguration, in room: TodoRoom
  ) throws(ConfigurationError) {
    guard case .memory(let count) = configuration.source,
      let refusal = room.refusal(opening: MemoryTodoRepository.size(count: count))
    else { return }
    throw ConfigurationError(refusal.message, at: ["memory", "count"], code: refusal.code)
  }
}

extension SeededLists {
  /// What takes long to make for a list in memory.
  @Sendable
  fileprivate func preparation(
    for configuration: TodoConfiguration
  ) -> (@Sendable () -> any Sendable)? {
    guard case .memory(let count) = configuration.source else { return nil }
    return preparation(count: count)
  }
}
