// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import ServerCore
import Sessions
import StateMachines
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

/// A shard on a loop that the test runs, with a clock and work that the test controls.
final class World {
  let loop = TestLoop()
  let orders = Orders()
  let clock = ManualClock()
  let shard: Shard
  private let journalThread: HeldJobs?

  /// Creates a shard with a manual clock.
  ///
  /// - Parameter journalThread: The thread of the journal; nil if each turn waits for its commit.
  init(
    limits: SessionLimits = .init(), observers: [any StoreObserver] = [],
    journal: PlainJournal? = nil, on journalThread: HeldJobs? = nil, kinds: [StoreKind] = [],
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in }
  ) {
    self.journalThread = journalThread
    shard = Shard(
      executor: loop, kinds: Self.kinds(orders) + kinds, limits: limits, observers: observers,
      clock: clock, journal: journal,
      journalThreads: journalThread.map { JournalThreads(commit: $0.add, notify: { $0() }) },
      storeFailed: storeFailed)
  }

  /// Begins to restore the sessions of the journal, which are loaded one by one.
  func beginRestoring() throws {
    try shard.assumeIsolated { shard in try shard.beginRestoring { Issue.record("\($0)") } }
  }

  /// Performs commits until none is pending.
  func commit() {
    while let journalThread, journalThread.count > 0 { journalThread.run() }
  }

  /// Creates a shard under test. Its clock is advanced over the wire, and its work runs on its
  /// loop.
  init(
    underTest limits: SessionLimits, kinds: [StoreKind] = [], outside: OutsideWork = OutsideWork()
  ) {
    journalThread = nil
    let rest = IdleTracker(
      outside: outside, checkThread: {}, execute: { [loop] in loop.execute($0) })
    shard = Shard(testing: rest, kinds: Self.kinds(orders) + kinds, limits: limits)
  }

  /// The limits of a store that accepts titles of at most ten bytes.
  private static var brief: TextLimits {
    var limits = TextLimits()
    limits.titleBytes = 10
    return limits
  }

  private static func kinds(_ orders: Orders) -> [StoreKind] {
    [
      StoreKind("probe") { Probe(orders: orders) },
      StoreKind("todo", configuration: TodoConfiguration.self) { configuration in
        let count = if case .memory(let count) = configuration.source { count } else { 0 }
        return TodoStore(
          repository: MemoryTodoRepository(), list: MemoryTodoRepository.list(count: count))
      },
      StoreKind("brief") { TodoStore(repository: MemoryTodoRepository(), limits: brief) },
      StoreKind("loose") { Loose() },
      StoreKind("fallible") { Fallible() },
    ]
  }
}

/// A store with any text, number and JSON value, to produce states that are difficult to encode.
struct Loose: StateMachine {
  enum Input: Codable, Sendable {
    case put(number: Double, text: String)
    /// Keeps any JSON value.
    case keep(value: JSONValue)
  }
  struct State: Codable, Sendable {
    var number: Double? = 0
    var text = ""
    var nested = ["b": [1, 2], "a": []]
    var kept: JSONValue?
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .put(let number, let text):
      state.number = number
      state.text = text
    case .keep(let value): state.kept = value
    }
  }
}
