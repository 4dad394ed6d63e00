// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// The actor that owns sessions and stores. Its jobs run on the event loop of its connections.
///
/// Everything inside is synchronous: the event loop enters once per turn and performs all available
/// work. Messages of running effects return through `deliver`, and results of offloaded work in
/// separate turns. There is no global state, so several shards run side by side; `ShardGroup` has
/// the counts of their common limits.
public actor Shard: StoreHost {
  /// The store kinds that sessions can open.
  public nonisolated let kinds: [StoreKind]
  /// The limits of sessions.
  public nonisolated let limits: SessionLimits
  /// The observers of all stores.
  public nonisolated let observers: [any StoreObserver]
  /// The shards of the server.
  public nonisolated let group: ShardGroup
  /// The place of the shard in its group.
  public nonisolated let place: ShardPlace
  /// The ownership of sessions; nil if this is the only node.
  public nonisolated let ownership: (any SessionOwnership)?
  /// The metrics of the shard.
  public nonisolated let metrics: ShardMetrics
  /// True if sessions with a handle are journaled.
  public nonisolated let hasJournal: Bool
  /// The controls for tests; nil if the shard is not under test.
  public let testing: TestMode?
  /// The work outside of a shard under test; nil if the shard is not under test.
  nonisolated let outside: OutsideWork?

  private let clock: any StoreClock
  private let executor: any SerialExecutor
  /// The environment of the stores of a shard that is not under test.
  lazy var environment = StoreEnvironment(
    clock: clock, effects: metrics.effects, replies: ReplyQueue(host: self))
  private var lastNumber = 0
  private var configurations = SharedConfigurations()
  /// The kinds of the stores until now, by name.
  private var servedKinds: [ByteString: ServedKind] = [:]
  /// The accounts of the bytes of sessions.
  let accounts: IdentityAccounts
  /// Other accounts of the shard that take parts of a common memory.
  public var otherAccounts: [IdentityAccounts] = []
  /// The sessions with a handle.
  var directory: SessionDirectory
  /// The stores that several sessions use.
  var sharedStores: [SharedStore.Key: SharedStore] = [:]
  /// Shared stores that are set aside.
  var unusableShared: Set<SharedStore.Key> = []
  /// The restored work that has not ended, and the number of the last input that is part of it, by
  /// store; empty if crashes are not counted.
  var restored: [StoreNumber: (work: RestoredWork, last: UInt64)] = [:]
  /// The work of the session that is being restored; nil if there is none.
  var restoring: RestoredWork?
  /// The state of the loading of sessions.
  var loader = SessionLoader { _ in }
  /// The sessions that a console reads.
  var recorded: [RecordedSession] = []
  /// The copy that runs on this shard; nil on the shards of a server.
  var copy: RunningCopy?
  /// The sessions without a client that will sleep.
  var sleepQueue = SleepQueue()
  /// The work that is deferred until the end of a turn.
  public let turnOutcome: TurnOutcome
  /// The clients of the sessions.
  public var clients: ClientTable { table }
  // Unsafe because `deinit`, which is not isolated, uses it; nothing else has the shard then.
  private nonisolated(unsafe) let table: ClientTable
  // Unsafe because `deinit` closes them; nothing else has the shard then.
  private nonisolated(unsafe) var stores: [StoreNumber: MessageReceiver] = [:]
  /// An object that the connections of this shard share; set by the server of the connections.
  public var common: AnyObject?

  /// The executor of the event loop, if its jobs can also be closures.
  public nonisolated var closureExecutor: (any ClosureExecutor)? {
    executor as? any ClosureExecutor
  }

  /// The executor of the event loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Creates a shard.
  ///
  /// - Parameters:
  ///   - executor: Runs jobs on the thread that calls the shard; it must outlive the shard.
  ///   - kinds: The store kinds; the last of several kinds with the same name counts.
  ///   - limits: The limits of sessions.
  ///   - observers: The observers of all stores.
  ///   - clock: The clock of effects.
  ///   - journal: The journal of sessions with a handle; nil for none.
  ///   - journalThreads: The threads of the journal; nil if each turn waits for its commit.
  ///   - journalFailed: Called with the error of each failed commit, except a commit that fails
  ///     only because entries of an earlier one are missing.
  ///   - storeFailed: Called with each new state that cannot be encoded.
  public init(
    executor: any SerialExecutor, kinds: [StoreKind], limits: SessionLimits = .init(),
    observers: [any StoreObserver] = [], clock: any StoreClock = SystemClock(),
    journal: sending (any SessionJournal)? = nil, journalThreads: JournalThreads? = nil,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in }
  ) {
    self.init(
      executor: executor, in: ShardGroup(count: 1, limits: limits), at: .alone, kinds: kinds,
      limits: limits, observers: observers, clock: clock,
      journal: JournalWriter(journal, commit: journalThreads?.commit),
      journalNotify: journalThreads?.notify, journalFailed: journalFailed,
      storeFailed: storeFailed)
  }

  /// Creates one of the shards of a server.
  ///
  /// - Parameters:
  ///   - executor: Runs jobs on the thread that calls the shard; it must outlive the shard.
  ///   - group: The shards of the server.
  ///   - place: The place of the shard in its group.
  ///   - kinds: The store kinds; the last of several kinds with the same name counts.
  ///   - limits: The limits of sessions, the same for all shards of the group.
  ///   - observers: The observers of all stores.
  ///   - clock: The clock of effects.
  ///   - journal: The writer of the journal, which the shards of the group share; nil for none.
  ///   - journalNotify: Runs a closure on the thread of the shard, after all closures that were
  ///     passed before; nil if each turn waits for its commit.
  ///   - ownership: The ownership of sessions; nil if no other node shares the journal.
  ///   - measuresTurns: True to measure the durations of turns for the metrics.
  ///   - journalFailed: Called with the error of each failed commit, except a commit that fails
  ///     only because entries of an earlier one are missing.
  ///   - journalRecovered: Called when the journal has everything again after failed commits.
  ///   - storeFailed: Called with each new state that cannot be encoded.
  public init(
    executor: any SerialExecutor, in group: ShardGroup, at place: ShardPlace, kinds: [StoreKind],
    limits: SessionLimits, observers: [any StoreObserver] = [],
    clock: any StoreClock = SystemClock(), journal: JournalWriter? = nil,
    journalNotify: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
    ownership: (any SessionOwnership)? = nil, measuresTurns: Bool = false,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    journalRecovered: @escaping @Sendable () -> Void = {},
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in }
  ) {
    self.executor = executor
    self.group = group
    self.place = place
    self.kinds = kinds
    self.limits = limits
    self.observers = observers
    self.clock = clock
    accounts = IdentityAccounts(group.sessionMemory)
    self.ownership = ownership
    metrics = ShardMetrics(of: kinds, measuresTurns: measuresTurns)
    testing = nil
    outside = nil
    hasJournal = journal != nil
    turnOutcome = TurnOutcome(
      commits: journal.map {
        CommitStage(
          ShardJournal($0, of: place, notify: journalNotify), epoch: .random(in: 0 ... .max),
          clock: clock, failed: journalFailed, recovered: journalRecovered)
      }, lease: ownership, metrics: metrics, storeFailed: storeFailed)
    directory = SessionDirectory(
      generator: SystemRandomNumberGenerator(), place: place, census: group.census)
    table = turnOutcome.clients
    Self.watch(turnOutcome.commits, for: self)
  }

  /// Creates a shard under test: with a virtual clock, and with effects on the thread of the shard.
  public init(
    testing tracker: IdleTracker, kinds: [StoreKind], limits: SessionLimits = .init(),
    observers: [any StoreObserver] = [], journal: sending (any SessionJournal)? = nil,
    measuresTurns: Bool = false,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in }
  ) {
    self.init(
      testing: tracker, TestSettings(), kinds: kinds, limits: limits, observers: observers,
      journal: journal, measuresTurns: measuresTurns, journalFailed: journalFailed,
      storeFailed: storeFailed)
  }

  /// Creates a shard under test with other settings.
  init(
    testing tracker: IdleTracker, _ settings: TestSettings, kinds: [StoreKind],
    limits: SessionLimits, observers: [any StoreObserver],
    journal: sending (any SessionJournal)?, measuresTurns: Bool,
    journalFailed: @escaping @Sendable (any Error) -> Void,
    storeFailed: @escaping @Sendable (StoreFailure) -> Void
  ) {
    executor = tracker.shardExecutor
    group = ShardGroup(count: 1, limits: limits)
    place = .alone
    accounts = IdentityAccounts(group.sessionMemory)
    self.kinds = kinds
    self.limits = limits
    self.observers = observers
    ownership = nil
    metrics = ShardMetrics(of: kinds, measuresTurns: measuresTurns)
    let testing = TestMode(tracker: tracker, settings)
    clock = testing.clock
    self.testing = testing
    outside = tracker.outside
    hasJournal = journal != nil
    turnOutcome = TurnOutcome(
      commits: JournalWriter(journal, commit: nil).map {
        // Under test updates do not depend on how long a commit takes.
        CommitStage(
          ShardJournal($0, of: .alone, notify: nil), epoch: 0, clock: testing.clock,
          failed: journalFailed, recovered: {})
      }, metrics: metrics, testing: testing, storeFailed: storeFailed)
    directory = SessionDirectory(
      generator: testing.generator, place: .alone, census: group.census)
    table = turnOutcome.clients
    Self.watch(turnOutcome.commits, for: self)
    tracker.whenIdle { [weak self] in
      self?.assumeIsolated { shard in shard.turn { shard.testing?.performNext(shard) } }
    }
  }

  // A client retains its sessions, and these retain the table of the clients. A store retains the entry
  // whose inputs have not settled.
  deinit {
    table.releaseAll()
    for receiver in stores.values { receiver.store.close() }
  }

  private static func watch(_ commits: CommitStage?, for shard: Shard) {
    commits?.whenEnded { [weak shard] result in
      shard?.assumeIsolated { $0.committed(result) }
    }
    commits?.whenLost { [weak shard] sessions in
      shard?.assumeIsolated { shard in shard.turn { shard.commits?.lost(sessions, shard) } }
    }
  }

  /// Runs `body` as one turn, then delivers the turn's messages to clients and starts its work.
  ///
  /// Nothing is written to an output while the turn runs, so no output can call back into the turn.
  ///
  /// - Precondition: No turn runs, and no output is being written to.
  public func turn<Result>(_ body: () throws -> Result) rethrows -> Result {
    precondition(!turnOutcome.isBusy, "an event must not come within a turn")
    turnOutcome.stage = .turn
    let start = metrics.turns.map { _ in ContinuousClock.now }
    defer {
      turnOutcome.reached(self)
      turnOutcome.stage = .output
      turnOutcome.deliver()
      turnOutcome.stage = .idle
      if let start { metrics.turns?.add(.now - start) }
    }
    return try body()
  }

  /// Handles the end of some commits.
  private func committed(_ result: CommitResult) {
    turnOutcome.commits?.take(result)
    if turnOutcome.stage != .turn { turn {} }
  }

  /// Passes a message of running work to its store, in a separate turn.
  public func deliver(_ message: EffectMessage) {
    guard let receiver = stores[message.store] else { return }
    if let work = restored[message.store]?.work {
      work.perform { turn { receiver.receive(message) } }
      endRestoredWork(of: message.store)
    } else {
      turn { receiver.receive(message) }
    }
    if receiver.store.isClosed, !receiver.store.hasUnfinished { stores[message.store] = nil }
  }

  /// Passes messages to their stores in one turn, in their order.
  public func deliver(_ messages: [EffectMessage]) {
    guard restored.isEmpty else {
      for message in messages { deliver(message) }
      return
    }
    turn { for message in messages { stores[message.store]?.receive(message) } }
  }

  /// Adapts the shard's parts of the memory of all shards to its use; called once a second.
  public func rebalanceMemory() {
    for accounts in [accounts] + otherAccounts { accounts.rebalance() }
  }

  /// Closes all stores, and waits until their work and all commits have ended.
  ///
  /// It is called at the end of the process. The closing is not journaled: a journaled session is
  /// restored with its unfinished inputs.
  public func stop() async {
    closeStores()
    await drain()
  }

  /// Closes all stores, as in `stop`; `drain` waits for their work.
  public func closeStores() {
    loader.isStopped = true
    turn {
      for number in stores.keys.sorted(by: { $0.rawValue < $1.rawValue }) { close(number) }
    }
  }

  /// Waits until the work of all closed stores and all commits have ended.
  public func drain() async {
    let leaving = stores.values.map(\.store).filter(\.isClosed).flatMap(\.unfinished)
    for task in leaving { await task.value }
    await withCheckedContinuation { continuation in
      guard let commits else { return continuation.resume() }
      commits.whenIdle { continuation.resume() }
    }
  }
}

extension Shard {
  /// Creates a store, and stores it for the messages of its effects.
  ///
  /// - Parameters:
  ///   - environment: The environment of the store.
  ///   - session: The session of the store.
  func open(
    _ kind: StoreKind, as name: String, _ configuration: SharedConfiguration,
    from origin: StoreOrigin, environment: StoreEnvironment, session: Session,
    viewer: Viewer, prepared: (any Sendable)?
  ) throws(JSONError) -> (StoreNumber, StoreKind.Made) {
    let number = nextNumber()
    let made = try kind.make(
      configuration.value,
      StoreKind.StoreParameters(
        store: name, number: number, host: self, environment: environment,
        observers: observers,
        observed: ObservedStore(name, kind: kind.name, session: session.handle?.abbreviated),
        session: session, origin: origin, viewer: viewer, prepared: prepared))
    stores[number] = MessageReceiver(store: made.store, receive: made.receive)
    return (number, made)
  }

  /// Returns the configuration of a store; the same object for all open stores with an equal
  /// configuration.
  func configuration(
    _ opening: StoreOpening, of kind: StoreKind
  ) throws(JSONError) -> SharedConfiguration {
    try configurations.configuration(
      of: kind.name, opening.configuration, read: opening.readConfiguration)
  }

  /// Returns the kind of a store that is open or closed; the same object for all stores of a kind.
  func served(_ name: String) -> ServedKind {
    if let known = servedKinds[ByteString(name)] { return known }
    let made = ServedKind(name, metrics.kind(name), refusing: kind(name)?.refusing)
    // Closed stores of an earlier process may have other kinds, in any number.
    if kind(name) != nil { servedKinds[ByteString(name)] = made }
    return made
  }

  /// Returns the next number of a store.
  func nextNumber() -> StoreNumber {
    lastNumber += 1
    return StoreNumber(lastNumber)
  }

  /// The commit stage; nil if there is no journal.
  var commits: CommitStage? { turnOutcome.commits }

  /// The calendar time, since 1970.
  var sinceEpoch: Duration { clock.sinceEpoch }

  /// The time by which sessions expire.
  var uptime: Duration { clock.uptime }

  /// Returns the store with a number; nil after its work has ended.
  func store(_ number: StoreNumber) -> (any AnyStore)? { stores[number]?.store }

  /// Closes a store, which is kept until its work has ended.
  func close(_ number: StoreNumber) {
    guard let store = store(number) else { return }
    store.close()
    endRestoredWork(of: number)
    if !store.hasUnfinished { stores[number] = nil }
  }
}

/// A store that may receive messages of its effects.
private struct MessageReceiver {
  let store: any AnyStore
  /// Handles a message from running work; see `StoreKind.Made.receive`.
  let receive: (EffectMessage) -> Void
}
