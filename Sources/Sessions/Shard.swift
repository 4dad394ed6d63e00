// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// The actor that owns sessions and stores; its executor is the event loop that their bytes come
/// from.
///
/// Everything inside is plain and synchronous: a turn of the loop enters once and does what there
/// is to do. What runs elsewhere comes back through `deliver`. Nothing here is global, so several
/// shards can stand side by side.
public actor Shard: StoreHost {
  /// The kinds of stores that sessions here can open.
  public nonisolated let kinds: [StoreKind]
  /// The limits that sessions here keep.
  public nonisolated let limits: SessionLimits
  /// The time that effects wait on.
  public nonisolated let clock: any StoreClock

  private let executor: any SerialExecutor
  private var stores: [StoreNumber: any AnyStore] = [:]
  private var lastNumber = 0
  /// What is put off until the end of a turn.
  public let turnEnd = TurnEnd()

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// - Parameters:
  ///   - executor: The event loop; it must outlive the shard.
  ///   - kinds: What can be opened; of two with one name the last counts.
  ///   - limits: What one session may use.
  ///   - clock: The time that effects wait on.
  public init(
    executor: any SerialExecutor, kinds: [StoreKind], limits: SessionLimits = .init(),
    clock: any StoreClock = SystemClock()
  ) {
    self.executor = executor
    self.kinds = kinds
    self.limits = limits
    self.clock = clock
  }

  /// Does something as one turn: what was put off until its end is done before this returns.
  public func turn<Result>(_ body: () throws -> Result) rethrows -> Result {
    defer { turnEnd.reached() }
    return try body()
  }

  public func deliver(_ message: EffectMessage) {
    guard let store = stores[message.store] else { return }
    turn { store.receive(message) }
    if store.isClosed, store.unfinished.isEmpty { stores[message.store] = nil }
  }

  /// Waits until the work of all closed stores has come to its end.
  public func drain() async {
    let leaving = stores.values.filter(\.isClosed).flatMap(\.unfinished)
    for task in leaving { await task.value }
  }
}

extension Shard {
  /// Makes a store and remembers it for the messages of its effects.
  func open(
    _ kind: StoreKind, _ configuration: JSONValue, revision: Revision
  ) throws(JSONError) -> (StoreNumber, any AnyStore) {
    lastNumber += 1
    let number = StoreNumber(lastNumber)
    let store = try kind.make(
      configuration,
      StoreKind.Seat(number: number, host: self, clock: clock, revision: revision))
    stores[number] = store
    return (number, store)
  }

  /// Ends a store; it is remembered until its work has come to its end.
  func close(_ number: StoreNumber) {
    guard let store = stores[number] else { return }
    store.close()
    if store.unfinished.isEmpty { stores[number] = nil }
  }
}
