// SPDX-License-Identifier: Apache-2.0

/// Begins the work of one store, keeps its handles, cancels it and waits for its end.
///
/// The one place where tasks begin that no caller waits for. Every handle is kept until its work
/// says that it has ended, cancelled work included, so that awaiting `unfinished` leaves
/// nothing running.
final class EffectRunner<Action: Sendable> {
  /// One running effect.
  struct Run {
    let number: RunNumber
    let operation: Operation
    let id: EffectID?
    var isFeed: Bool
    /// What is folded if it is cancelled.
    let cancelled: Action?
    /// The input that began it.
    let ticket: Ticket
    let task: Task<Void, Never>
  }

  // Weak: the host owns the store that owns this.
  private weak var host: (any StoreHost)?
  private let store: StoreNumber
  private let clock: any StoreClock
  private let executor: (any TaskExecutor)?
  private var runs: [RunNumber: Run] = [:]
  private var stopping: [RunNumber: Task<Void, Never>] = [:]
  private var lastNumber: UInt64 = 0

  /// - Parameter executor: Where work runs; nil is where all else does.
  init(
    host: any StoreHost, store: StoreNumber, clock: any StoreClock,
    executor: (any TaskExecutor)? = nil
  ) {
    self.host = host
    self.store = store
    self.clock = clock
    self.executor = executor
  }

  /// Begins work for an input.
  /// - Returns: The run; nil if it is a feed that runs already.
  func begin(_ work: Work<Action>, for ticket: Ticket) -> Run? {
    if let id = work.id, work.isFeed,
      runs.values.contains(where: { $0.id == id && $0.isFeed })
    {
      return nil
    }
    lastNumber += 1
    let number = RunNumber(rawValue: lastNumber)
    let store = store
    work.began?()
    // Weak here as well: work that waits, a feed say, must not keep the host and its stores alive.
    let context = EffectContext<Action>(clock: clock) { [weak host] news in
      guard !Task.isCancelled else { return }
      await host?.deliver(EffectMessage(store: store, run: number, news: news))
    }
    let task = Task(executorPreference: executor) { [weak host] in
      await work.body(context)
      await host?.deliver(EffectMessage(store: store, run: number, news: .ended))
    }
    let run = Run(
      number: number, operation: Operation(name: work.name, number: number.rawValue),
      id: work.id, isFeed: work.isFeed, cancelled: work.cancelled, ticket: ticket, task: task)
    runs[number] = run
    return run
  }

  /// The run with a number, if it is neither over nor cancelled.
  func run(_ number: RunNumber) -> Run? { runs[number] }

  /// A run's work goes on as a feed.
  /// - Returns: The run, if it was none before.
  func becameFeed(_ number: RunNumber) -> Run? {
    guard let run = runs[number], !run.isFeed else { return nil }
    runs[number]?.isFeed = true
    return run
  }

  /// A run's work has returned.
  /// - Returns: The run, unless it had been cancelled before.
  func ended(_ number: RunNumber) -> Run? {
    stopping[number] = nil
    return runs.removeValue(forKey: number)
  }

  /// Cancels the runs with an id, or those that are no feeds.
  func cancel(_ id: EffectID, feeds: Bool = true) -> [Run] {
    cancel { $0.id == id && (feeds || !$0.isFeed) }
  }

  /// Cancels the feeds that a run takes over from.
  func cancelFeeds(before run: Run) -> [Run] {
    guard let id = run.id else { return [] }
    return cancel { $0.id == id && $0.isFeed && $0.number != run.number }
  }

  /// Cancels the runs of an input, its feeds excepted.
  func cancel(_ ticket: Ticket) -> [Run] { cancel { $0.ticket == ticket && !$0.isFeed } }

  /// Cancels all runs.
  func cancelAll() -> [Run] { cancel { _ in true } }

  /// The handles of all that has not ended, cancelled or not.
  var unfinished: [Task<Void, Never>] { runs.values.map(\.task) + stopping.values }

  /// Cancels runs in the order in which they began.
  private func cancel(where condition: (Run) -> Bool) -> [Run] {
    let cancelled = runs.filter { condition($1) }.sorted { $0.key.rawValue < $1.key.rawValue }
    for (number, run) in cancelled {
      run.task.cancel()
      runs[number] = nil
      stopping[number] = run.task
    }
    return cancelled.map(\.value)
  }
}

/// The task that empties the queue of one hook; it ends when the queue is finished.
enum HookTask {
  static func begin(_ body: @escaping @Sendable () async -> Void) {
    Task { await body() }
  }
}
