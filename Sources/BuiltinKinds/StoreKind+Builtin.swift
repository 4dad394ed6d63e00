// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import Sessions

extension StoreKind {
  /// Returns the built-in kinds: `todo`, `addTodo`, `form`, `balance` and `loading`.
  ///
  /// - Parameters:
  ///   - lists: The named todo lists.
  ///   - balance: The source of the account balance.
  ///   - zone: The time zone of the texts of the balance.
  ///   - sources: The sources that loaders may name.
  ///   - limits: The longest titles and form entries.
  ///   - todoLimits: The largest todo lists in memory.
  ///   - cacheBytes: The largest number of bytes that the caches of all loaders hold.
  public static func builtin(
    lists: any TodoLists, balance: any BalanceService, zone: TimeZoneRule = .utc,
    sources: LoadingSources = [:], limits: TextLimits = TextLimits(),
    todoLimits: TodoLimits = TodoLimits(), cacheBytes: Int = LoaderCaches.maximumBytes
  ) -> [StoreKind] {
    let quota = TodoQuota(todoLimits)
    let seeded = SeededLists()
    let caches = LoaderCaches(maximumBytes: cacheBytes)
    return [
      StoreKind(
        "todo", configuration: TodoConfiguration.self, sharingWithin: quota.session(of:),
        admitting: checkQuota, preparing: seeded.preparation(for:)
      ) { configuration, quota in
        switch configuration.source {
        case .list(let name):
          TodoStore(repository: lists.repository(list: name), limits: limits)
        case .memory(let count):
          TodoStore(
            repository: MemoryTodoRepository(
              in: quota, size: MemoryTodoRepository.size(count: count)),
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
      StoreKind("form") { FormStore(limits: limits) }
        .concealing("firstEntry", "secondEntry", "value"),
      StoreKind("balance") { BalanceStore(service: balance, zone: zone) }
        .concealing("balance", "formattedBalance"),
      StoreKind(
        "loading", configuration: LoaderConfiguration.self, sharingWithin: caches.session(of:)
      ) { configuration, cache throws(ConfigurationError) in
        try LoadingStore(configuration: configuration, sources: sources, cache: cache)
      },
    ]
  }

  /// Throws if the quota has no room for the list in memory of a configuration.
  @Sendable
  private static func checkQuota(
    for configuration: TodoConfiguration, in quota: TodoQuota
  ) throws(ConfigurationError) {
    guard case .memory(let count) = configuration.source,
      let refusal = quota.refusal(opening: MemoryTodoRepository.size(count: count))
    else { return }
    throw ConfigurationError(refusal.message, at: ["memory", "count"], code: .init(refusal.code))
  }
}

extension SeededLists {
  /// Returns the work that makes a long list in memory before its store opens; nil if there is
  /// none.
  @Sendable
  fileprivate func preparation(
    for configuration: TodoConfiguration
  ) -> (@Sendable () -> any Sendable)? {
    guard case .memory(let count) = configuration.source else { return nil }
    return preparation(count: count)
  }
}
