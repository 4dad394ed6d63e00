// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// The actor that owns sessions and stores; its jobs run on the event loop that their
/// bytes come from.
///
/// Everything inside is plain and synchronous: a turn of the loop enters once and does what there
/// is to do. What runs elsewhere comes back through `deliver`. Nothing here is global, so several
/// shards can stand side by side.
public actor Shard: StoreHost {
  /// The kinds of stores that sessions here can open.
  public nonisolated let kinds: [StoreKind]
  /// The limits that sessions here keep.
  public nonisolated let limits: SessionLimits
  /// Observers of all stores.
  public nonisolated let observers: [any StoreObserver]
  /// What tests can do here; nil where they can do nothing.
  public let testing: TestMode?

  private let clock: any StoreClock
  private let executor: any SerialExecutor
  private var stores: [StoreNumber: any AnyStore] = [:]
  private var lastNumber = 0
  private var configurations = SharedConfigurations()
  /// What sessions hold.
  let accounts: IdentityAccounts
  /// The sessions that outlive their connections.
  var directory: SessionDirectory
  /// The restored work that has not ended, for each store, and the store's last input that is part of it; empty where
  /// crashes are not counted.
  private(set) var restored: [StoreNumber: (work: RestoredWork, last: UInt64)] = [:]
  /// The work of the session that is being restored.
  var restoring: RestoredWork?
  /// What is known of sessions that are not loaded yet.
  var loader = SessionLoader { _ in }
  /// What is put off until the end of a turn.
  public let turnOutcome: TurnOutcome
  /// The clients of sessions here.
  public var clients: ClientTable { turnOutcome.clients }
  /// What the connections of this shard have in common, made by whoever serves them.
  public var common: AnyObject?

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// - Parameters:
  ///   - executor: Runs jobs on the thread that calls in; it must outlive the shard.
  ///   - kinds: What can be opened; of two with one name the last counts.
  ///   - limits: What one session may use.
  ///   - observers: Observers of all stores.
  ///   - clock: The time that effects wait on.
  ///   - journal: Where sessions with a handle are written down; nil: nowhere.
  ///   - journalThreads: Where that is done; nil: each turn waits for its commit.
  ///   - journalFailed: Told of what could not be written down, each time.
  ///   - storeFailed: Called with each new state that cannot be encoded.
  public init(
    executor: any SerialExecutor, kinds: [StoreKind], limits: SessionLimits = .init(),
    observers: [any StoreObserver] = [], clock: any StoreClock = SystemClock(),
    journal: sending (any SessionJournal)? = nil, journalThreads: JournalThreads? = nil,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in }
  ) {
    self.executor = executor
    self.kinds = kinds
    self.limits = limits
    self.observers = observers
    self.clock = clock
    accounts = IdentityAccounts(
      maximum: limits.bytes, maximumPerIdentity: limits.bytesPerIdentity)
    testing = nil
    turnOutcome = TurnOutcome(
      commits: journal.map {
        CommitStage(
          JournalWriter($0, on: journalThreads), epoch: .random(in: 0 ... .max), clock: clock,
          failed: journalFailed)
      }, storeFailed: storeFailed)
    directory = SessionDirectory(generator: SystemRandomNumberGenerator())
    turnOutcome.commits?.notify = { [weak self] result in
      self?.assumeIsolated { $0.committed(result) }
    }
  }

  /// A shard whose clock tests move; its work runs where the shard does.
  public init(
    testing rest: IdleTracker, kinds: [StoreKind], limits: SessionLimits = .init(),
    observers: [any StoreObserver] = [], journal: sending (any SessionJournal)? = nil,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in }
  ) {
    executor = rest.shardExecutor
    accounts = IdentityAccounts(
      maximum: limits.bytes, maximumPerIdentity: limits.bytesPerIdentity)
    self.kinds = kinds
    self.limits = limits
    self.observers = observers
    let testing = TestMode(rest: rest)
    clock = testing.clock
    self.testing = testing
    turnOutcome = TurnOutcome(
      commits: journal.map {
        // Under test updates do not depend on how long a commit takes.
        CommitStage(
          JournalWriter($0, on: nil), epoch: 0, clock: testing.clock, failed: journalFailed)
      }, storeFailed: storeFailed)
    directory = SessionDirectory(generator: testing.generator)
    turnOutcome.commits?.notify = { [weak self] result in
      self?.assumeIsolated { $0.committed(result) }
    }
    rest.whenReached { [weak self] in
      self?.assumeIsolated { shard in shard.turn { shard.testing?.goOn(shard) } }
    }
  }

  /// Runs `body` as one turn, then delivers what the turn has for clients, and starts its work.
  ///
  /// Nothing is written to an output while the turn runs, so no output can call back into it.
  public func turn<Result>(_ body: () throws -> Result) rethrows -> Result {
    precondition(!turnOutcome.isBusy, "an event comes within a turn")
    turnOutcome.isBusy = true
    turnOutcome.isInTurn = true
    defer {
      turnOutcome.reached(self)
      turnOutcome.isInTurn = false
      turnOutcome.deliver()
      turnOutcome.isBusy = false
    }
    return try body()
  }

  /// Takes the end of some commits.
  private func committed(_ result: CommitResult) {
    turnOutcome.commits?.take(result)
    if !turnOutcome.isInTurn { turn {} }
  }

  public func deliver(_ message: EffectMessage) {
    guard let store = stores[message.store] else { return }
    if let work = restored[message.store]?.work {
      work.perform { turn { store.receive(message) } }
      endRestoredWork(of: message.store)
    } else {
      turn { store.receive(message) }
    }
    if store.isClosed, store.unfinished.isEmpty { stores[message.store] = nil }
  }

  /// Does a piece of work elsewhere, and goes on with what came of it in a turn of its own.
  ///
  /// - Parameters:
  ///   - work: Needs nothing that belongs to the shard.
  ///   - body: Called on the shard.
  public nonisolated func elsewhere<Outcome: Sendable>(
    _ work: @escaping @Sendable () -> Outcome,
    then body: @escaping @Sendable (Outcome, isolated Shard) -> Void
  ) {
    Offload.do(work) { await self.goOn(with: $0, body) }
  }

  /// Goes on after a time, in a turn of its own.
  public nonisolated func wait(
    _ time: Duration, then body: @escaping @Sendable (isolated Shard) -> Void
  ) {
    Offload.wait(time) { await self.goOn(with: ()) { _, shard in body(shard) } }
  }

  private func goOn<Outcome: Sendable>(
    with outcome: Outcome, _ body: @Sendable (Outcome, isolated Shard) -> Void
  ) {
    turn { body(outcome, self) }
  }

  /// Ends all stores, and waits until their work has come to its end.
  ///
  /// For a process that ends. Nothing of it is written down: a session that is comes back with what ran in it.
  public func stop() async {
    closeStores()
    await drain()
  }

  /// Ends all stores, as for `stop`; `drain` waits for what their work still has to tell.
  public func closeStores() {
    loader.isStopped = true
    turn {
      for number in stores.keys.sorted(by: { $0.rawValue < $1.rawValue }) { close(number) }
    }
  }

  /// Waits until the work of all closed stores has come to its end.
  public func drain() async {
    let leaving = stores.values.filter(\.isClosed).flatMap(\.unfinished)
    for task in leaving { await task.value }
    await withCheckedContinuation { continuation in
      guard let commits else { return continuation.resume() }
      commits.whenIdle { continuation.resume() }
    }
  }
}

extension Shard {
  /// Makes a store and remembers it for the messages of its effects.
  ///
  /// - Parameter faults: What its operations meet, in a shard under test.
  func open(
    _ kind: StoreKind, as name: String, _ configuration: SharedConfiguration,
    from origin: StoreOrigin, clock: any StoreClock, faults: Faults?, shared: SharedValues
  ) throws(JSONError) -> (StoreNumber, StoreKind.Made) {
    let number = nextNumber()
    let made = try kind.make(
      configuration.value,
      StoreKind.Seat(
        store: name, number: number, host: self,
        environment: StoreEnvironment(
          clock: clock, executor: testing?.rest.workExecutor ?? restoring, faults: faults),
        observers: observers, shared: shared, origin: origin))
    stores[number] = made.store
    return (number, made)
  }

  /// A configuration, the same for all stores that are open with it.
  func configuration(
    _ opening: StoreOpening, of kind: StoreKind
  ) throws(JSONError) -> SharedConfiguration {
    try configurations.configuration(
      of: kind.name, opening.configuration, read: opening.readConfiguration)
  }

  /// The next name of a store.
  func nextNumber() -> StoreNumber {
    lastNumber += 1
    return StoreNumber(lastNumber)
  }

  /// The way to the journal; nil where there is none.
  var commits: CommitStage? { turnOutcome.commits }

  /// The time of the calendar.
  var sinceEpoch: Duration { clock.sinceEpoch }

  /// The time by which sessions expire.
  var uptime: Duration { clock.uptime }

  /// The clock of a session that begins.
  func sessionClock() -> any StoreClock { testing?.sessionClock() ?? clock }

  /// Ends a store; it is remembered until its work has come to its end.
  func close(_ number: StoreNumber) {
    guard let store = stores[number] else { return }
    store.close()
    endRestoredWork(of: number)
    if store.unfinished.isEmpty { stores[number] = nil }
  }

  /// Notes that all work which has begun in a store until now is restored work.
  func watch(_ number: StoreNumber, _ work: RestoredWork) {
    guard let store = stores[number] else { return }
    work.partBegan()
    restored[number] = (work, store.lastOperation)
    endRestoredWork(of: number)
  }

  /// Ends the restored work of a store if none of it is left.
  private func endRestoredWork(of number: StoreNumber) {
    guard let (work, last) = restored[number], stores[number]?.hasWork(through: last) != true
    else { return }
    restored[number] = nil
    work.partEnded()
  }
}
