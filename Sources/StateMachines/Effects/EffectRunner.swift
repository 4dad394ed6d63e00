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
    /// The window that is open while this wait lasts.
    let window: EffectID?
    var isFeed: Bool
    /// What is folded if it is cancelled.
    let cancelled: Action?
    /// How it fails; nil if it cannot.
    let failing: Failing<Action>?
    /// Whether it has said that it failed.
    var hasFailed = false
    /// The input that began it.
    let ticket: Ticket
    /// Its named parts that have not ended, as observers know them.
    var parts: [Operation] = []
    /// What is performed at its end, and for which input.
    var next: Next?
    /// Nil while it is held.
    var task: Task<Void, Never>?
  }

  /// An effect that waits for the end of a run.
  struct Next {
    let effect: Effect<Action>
    let ticket: Ticket

    /// The wait that stands for it, where it has one of its own.
    var wait: Work<Action>? {
      if case .put(.throttled, let work, _) = effect.step { work } else { nil }
    }
  }

  // Weak: the host owns the store that owns this.
  private weak var host: (any StoreHost)?
  private let store: StoreNumber
  let surroundings: StoreSurroundings
  private var parts: PartNumbers?
  private var runs: [RunNumber: Run] = [:]
  private var stopping: [RunNumber: Task<Void, Never>] = [:]
  private var lastNumber: UInt64 = 0
  /// Holds work until it may begin; nil where it begins at once.
  private var hold: ((@escaping () -> Void) -> Void)?

  init(host: any StoreHost, store: StoreNumber, surroundings: StoreSurroundings) {
    self.host = host
    self.store = store
    self.surroundings = surroundings
  }

  /// The named parts of work that begins from now on are told.
  func tellParts() { parts = parts ?? PartNumbers() }

  /// Work does not begin from now on before what `hold` is given is called.
  func holdWork(by hold: @escaping (@escaping () -> Void) -> Void) { self.hold = hold }

  /// Names the next operation.
  func nextOperation(_ name: String) -> Operation {
    lastNumber += 1
    return Operation(name: name, number: lastNumber)
  }

  /// Begins work for an input, at once or when it may.
  ///
  /// - Parameters:
  ///   - window: The window that is open while it lasts.
  ///   - next: What is performed at its end.
  /// - Returns: The run; nil if it is a feed that runs already.
  func begin(
    _ work: Work<Action>, for ticket: Ticket, window: EffectID? = nil, next: Next? = nil
  ) -> Run? {
    if let id = work.id, work.isFeed,
      runs.values.contains(where: { $0.id == id && $0.isFeed })
    {
      return nil
    }
    let operation = nextOperation(work.name)
    let number = RunNumber(rawValue: operation.number)
    var run = Run(
      number: number, operation: operation, id: work.id, window: window, isFeed: work.isFeed,
      cancelled: work.cancelled, failing: work.failing, ticket: ticket, next: next)
    if hold == nil { run.task = start(work, number) }
    runs[number] = run
    if let hold {
      hold { [weak self] in
        // What was cancelled while it was held never begins.
        guard let self, runs[number] != nil else { return }
        runs[number]?.task = start(work, number)
      }
    }
    return run
  }

  private func start(_ work: Work<Action>, _ number: RunNumber) -> Task<Void, Never> {
    let store = store
    work.began?()
    // Weak here as well: work that waits, a feed say, must not keep the host and its stores alive.
    let line = EffectLine(clock: surroundings.clock, faults: surroundings.faults, parts: parts) {
      [weak host] news in
      guard news.isOfPart || !Task.isCancelled else { return }
      await host?.deliver(EffectMessage(store: store, run: number, news: news))
    }
    return Task(executorPreference: surroundings.executor) { [weak host] in
      await work.body(EffectContext(line))
      await host?.deliver(EffectMessage(store: store, run: number, news: .ended))
    }
  }

  /// The run with a number, if it is neither over nor cancelled.
  func run(_ number: RunNumber) -> Run? { runs[number] }

  /// The wait that keeps a window open.
  func run(window: EffectID) -> Run? { runs.values.first { $0.window == window } }

  /// A run has given an action.
  func gave(_ action: Action, _ number: RunNumber) {
    guard let failing = runs[number]?.failing, failing.isFailure(action) else { return }
    runs[number]?.hasFailed = true
  }

  /// A named part of a run's work begins.
  /// - Returns: Whether it is to be told; not where the run is over.
  func partBegan(_ part: Operation, of number: RunNumber) -> Bool {
    runs[number]?.parts.append(part) != nil
  }

  /// A named part of a run's work has ended.
  /// - Returns: Whether it is to be told; not where it ended with its run.
  func partEnded(_ part: Operation, of number: RunNumber) -> Bool {
    guard let index = runs[number]?.parts.firstIndex(of: part) else { return false }
    runs[number]?.parts.remove(at: index)
    return true
  }

  /// Puts something else at the end of a run.
  /// - Returns: What stood there.
  func replaceNext(_ number: RunNumber, by next: Next) -> Next? {
    defer { runs[number]?.next = next }
    return runs[number]?.next
  }

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

  /// Cancels the runs with an id, or those that are no feeds; a wait by its window too.
  func cancel(_ id: EffectID, feeds: Bool = true) -> [Run] {
    if runs.isEmpty { return [] }
    return cancel { ($0.id == id || $0.window == id) && (feeds || !$0.isFeed) }
  }

  /// Cancels the feeds that a run takes over from.
  func cancelFeeds(before run: Run) -> [Run] {
    guard let id = run.id else { return [] }
    return cancel { $0.id == id && $0.isFeed && $0.number != run.number }
  }

  /// Cancels the runs of an input, its feeds excepted.
  func cancel(_ ticket: Ticket) -> [Run] { cancel { $0.ticket == ticket && !$0.isFeed } }

  /// Takes what waits on behalf of an input away from runs that go on.
  /// - Returns: What was taken.
  func removeNext(of ticket: Ticket) -> [Next] { removeNext { $0.ticket == ticket } }

  /// Takes what waits with an id of its own for the end of a window away from it.
  /// - Returns: What was taken.
  func removeNext(_ id: EffectID) -> [Next] {
    if runs.isEmpty { return [] }
    return removeNext { $0.wait?.id == id }
  }

  private func removeNext(where condition: (Next) -> Bool) -> [Next] {
    runs.values.filter { $0.next.map(condition) ?? false }
      .sorted { $0.number.rawValue < $1.number.rawValue }
      .compactMap { run in
        runs[run.number]?.next = nil
        return run.next
      }
  }

  /// Cancels all runs.
  func cancelAll() -> [Run] { cancel { _ in true } }

  /// The handles of all that has not ended, cancelled or not.
  var unfinished: [Task<Void, Never>] { runs.values.compactMap(\.task) + stopping.values }

  /// What runs, feeds excepted, in the order in which it began.
  var running: [Run] {
    runs.values.filter { !$0.isFeed }.sorted { $0.number.rawValue < $1.number.rawValue }
  }

  /// Whether nothing runs at all.
  var isIdle: Bool { runs.isEmpty }

  /// Cancels runs in the order in which they began.
  private func cancel(where condition: (Run) -> Bool) -> [Run] {
    let cancelled = runs.filter { condition($1) }.sorted { $0.key.rawValue < $1.key.rawValue }
    for (number, run) in cancelled {
      run.task?.cancel()
      runs[number] = nil
      stopping[number] = run.task
    }
    return cancelled.map(\.value)
  }
}

/// A piece of work that would keep others waiting where it is asked for, such as writing a large state.
///
/// No handle of it is kept: it waits for nothing, so it ends by itself.
public enum Elsewhere {
  /// Does it on a thread of the pool, and then calls `body` there.
  public static func `do`<Outcome: Sendable>(
    _ work: @escaping @Sendable () -> Outcome,
    then body: @escaping @Sendable (Outcome) async -> Void
  ) {
    Task { @concurrent in await body(work()) }
  }
}

/// The task that empties the queue of one hook; it ends when the queue is finished.
///
/// No handle of it is kept: nobody waits for a hook, least of all a store that closes, and cancelling
/// would take from the hook the ends that it is promised.
enum HookTask {
  static func begin(_ body: @escaping @Sendable () async -> Void) {
    Task { await body() }
  }
}
