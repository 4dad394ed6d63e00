// SPDX-License-Identifier: Apache-2.0

/// Begins the work of one store, keeps its handles, cancels it and waits for its end.
///
/// The one place where a store's work begins as tasks that no caller waits for. Every handle is kept until its
/// work says that it has ended, cancelled work included, so that awaiting `unfinished` leaves
/// nothing running.
final class EffectRunner<Action: Sendable> {
  /// One running effect.
  final class Run {
    let number: RunNumber
    let operation: Operation
    /// What it does, and how it gets on with others; whether it is a feed may change later.
    let work: Work<Action>
    /// The window that is open while this wait lasts.
    let window: EffectID?
    fileprivate(set) var isFeed: Bool
    /// Whether it has said that it failed.
    fileprivate(set) var hasFailed = false
    /// The input that began it.
    let inputID: InputID
    /// Its named parts that have not ended, as observers know them.
    fileprivate(set) var parts: [Operation] = []
    /// What is performed at its end, and for which input.
    fileprivate(set) var next: Next?
    /// Whether its work may not begin yet.
    fileprivate var isHeld = false
    /// Nil while it is held.
    fileprivate var task: Task<Void, Never>?

    fileprivate init(
      _ work: Work<Action>, _ operation: Operation, window: EffectID?, _ inputID: InputID,
      next: Next?
    ) {
      number = RunNumber(rawValue: operation.number)
      self.operation = operation
      self.work = work
      self.window = window
      isFeed = work.isFeed
      self.inputID = inputID
      self.next = next
    }
  }

  /// An effect that waits for the end of a run.
  final class Next {
    let effect: Effect<Action>
    let inputID: InputID

    init(effect: Effect<Action>, inputID: InputID) {
      self.effect = effect
      self.inputID = inputID
    }

    /// The wait that stands for it, where it has one of its own.
    var wait: Work<Action>? {
      if case .put(.throttled, let work, _) = effect.step { work } else { nil }
    }
  }

  // Weak: the host owns the store that owns this.
  private weak var host: (any StoreHost)?
  private let store: StoreNumber
  let environment: StoreEnvironment
  private var parts: PartNumbers?
  /// What runs, in the order in which it began, which is that of its numbers.
  private var runs: [Run] = []
  /// Finds some of them; nil while they are few.
  private var runIndex: RunIndex?
  /// True if something has waited for the end of a run since there were runs.
  private var hasNext = false
  private var stopping: [RunNumber: Task<Void, Never>] = [:]
  private var lastNumber: UInt64 = 0
  /// Lets work wait until it may begin; nil where it begins at once.
  private var hold: ((any HeldWork) -> Void)?
  /// What waits for that, cancelled or not; those before `nextHeld` have begun.
  private var held: [Run] = []
  private var nextHeld = 0

  init(host: any StoreHost, store: StoreNumber, environment: StoreEnvironment) {
    self.host = host
    self.store = store
    self.environment = environment
  }

  /// The named parts of work that begins from now on are told.
  func tellParts() { parts = parts ?? PartNumbers() }

  /// Work does not begin from now on before what `hold` is given for each piece is told to.
  func holdWork(by hold: @escaping (any HeldWork) -> Void) { self.hold = hold }

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
    _ work: Work<Action>, for inputID: InputID, window: EffectID? = nil, next: Next? = nil
  ) -> Run? {
    if let id = work.id, work.isFeed,
      candidates(id).contains(where: { $0.work.id == id && $0.isFeed })
    {
      return nil
    }
    let run = Run(work, nextOperation(work.name), window: window, inputID, next: next)
    if next != nil { hasNext = true }
    append(run)
    if let hold {
      run.isHeld = true
      held.append(run)
      hold(self)
    } else {
      run.task = start(work, run.number)
    }
    return run
  }

  private func start(_ work: Work<Action>, _ number: RunNumber) -> Task<Void, Never> {
    let store = store
    work.began?()
    // Weak here as well: work that waits, a feed say, must not keep the host and its stores alive.
    let line = EffectLine(clock: environment.clock, faults: environment.faults, parts: parts) {
      [weak host] news in
      guard news.isOfPart || !Task.isCancelled else { return }
      await host?.deliver(EffectMessage(store: store, run: number, news: news))
    }
    return Task(executorPreference: environment.executor) { [weak host] in
      await work.body(EffectContext(line))
      await host?.deliver(EffectMessage(store: store, run: number, news: .ended))
    }
  }

  // So few are looked at sooner than found.
  private static var fewRuns: Int { 32 }

  private func append(_ run: Run) {
    runs.append(run)
    if runIndex != nil {
      runIndex?.add(run)
    } else if runs.count > Self.fewRuns {
      var index = RunIndex()
      for run in runs { index.add(run) }
      runIndex = index
    }
  }

  private func remove(at place: Int) -> Run {
    let run = runs.remove(at: place)
    runIndex?.remove(run)
    if runs.isEmpty { (runIndex, hasNext) = (nil, false) }
    return run
  }

  /// Runs among which are all with an id, or with a window of it, in the order in which they began.
  private func candidates(_ id: EffectID) -> [Run] {
    runIndex.map { $0.runs(id).compactMap { run($0) } } ?? runs
  }

  /// The run with a number, if it is neither over nor cancelled.
  func run(_ number: RunNumber) -> Run? { index(of: number).map { runs[$0] } }

  private func index(of number: RunNumber) -> Int? {
    let index = runs.firstIndex(atLeast: number.rawValue, by: \.number.rawValue)
    return index < runs.count && runs[index].number == number ? index : nil
  }

  /// The wait that keeps a window open.
  func run(window: EffectID) -> Run? { candidates(window).first { $0.window == window } }

  /// A run has given an action.
  func gave(_ action: Action, _ run: Run) {
    if let failing = run.work.failing, failing.isFailure(action) { run.hasFailed = true }
  }

  /// A named part of a run's work begins.
  /// - Returns: Whether it is to be told; not where the run is over.
  func partBegan(_ part: Operation, of number: RunNumber) -> Bool {
    run(number)?.parts.append(part) != nil
  }

  /// A named part of a run's work has ended.
  /// - Returns: Whether it is to be told; not where it ended with its run.
  func partEnded(_ part: Operation, of number: RunNumber) -> Bool {
    guard let run = run(number), let index = run.parts.firstIndex(of: part) else { return false }
    run.parts.remove(at: index)
    return true
  }

  /// Puts something else at the end of a run.
  /// - Returns: What stood there.
  func replaceNext(of run: Run, by next: Next) -> Next? {
    defer { run.next = next }
    hasNext = true
    return run.next
  }

  /// A run's work goes on as a feed.
  /// - Returns: Whether it was none before.
  func becameFeed(_ run: Run) -> Bool {
    guard !run.isFeed, index(of: run.number) != nil else { return false }
    run.isFeed = true
    return true
  }

  /// A run's work has returned.
  /// - Returns: The run, unless it had been cancelled before.
  func ended(_ number: RunNumber) -> Run? {
    if !stopping.isEmpty { stopping[number] = nil }
    return index(of: number).map { remove(at: $0) }
  }

  /// Cancels the runs with an id, or those that are no feeds; a wait by its window too.
  func cancel(_ id: EffectID, feeds: Bool = true) -> [Run] {
    cancel(runIndex?.runs(id)) { ($0.work.id == id || $0.window == id) && (feeds || !$0.isFeed) }
  }

  /// Cancels the feeds that a run takes over from.
  func cancelFeeds(before run: Run) -> [Run] {
    guard let id = run.work.id else { return [] }
    return cancel(runIndex?.runs(id)) {
      $0.work.id == id && $0.isFeed && $0.number != run.number
    }
  }

  /// Cancels the runs of an input, its feeds excepted.
  func cancel(_ inputID: InputID) -> [Run] {
    cancel(runIndex?.runs(of: inputID)) { $0.inputID == inputID && !$0.isFeed }
  }

  /// Takes what waits on behalf of an input away from runs that go on.
  /// - Returns: What was taken.
  func removeNext(of inputID: InputID) -> [Next] { removeNext { $0.inputID == inputID } }

  /// Takes what waits with an id of its own for the end of a window away from it.
  /// - Returns: What was taken.
  func removeNext(_ id: EffectID) -> [Next] { removeNext { $0.wait?.id == id } }

  private func removeNext(where condition: (Next) -> Bool) -> [Next] {
    guard hasNext else { return [] }
    var removed: [Next] = []
    for run in runs {
      guard let next = run.next, condition(next) else { continue }
      run.next = nil
      removed.append(next)
    }
    return removed
  }

  /// Cancels all runs.
  func cancelAll() -> [Run] { cancel(nil) { _ in true } }

  /// The handles of all that has not ended, cancelled or not.
  var unfinished: [Task<Void, Never>] { runs.compactMap(\.task) + stopping.values }

  /// What runs, feeds excepted, in the order in which it began.
  var running: [Run] { runs.filter { !$0.isFeed } }

  /// A Boolean value that indicates whether work of inputs up to this one runs, or waits for what runs.
  func hasWork(through inputID: InputID) -> Bool {
    runs.contains {
      !$0.isFeed && $0.inputID.rawValue <= inputID.rawValue
        || $0.next.map { $0.inputID.rawValue <= inputID.rawValue } ?? false
    }
  }

  /// Whether nothing runs at all.
  var isIdle: Bool { runs.isEmpty }

  /// Cancels runs in the order in which they began.
  ///
  /// - Parameter candidates: Runs among which are all that may fulfil the condition; nil: all.
  private func cancel(_ candidates: [RunNumber]?, where condition: (Run) -> Bool) -> [Run] {
    guard !runs.isEmpty else { return [] }
    var cancelled: [Run] = []
    if let candidates, candidates.count <= Self.fewRuns {
      for number in candidates {
        guard let place = index(of: number), condition(runs[place]) else { continue }
        cancelled.append(remove(at: place))
      }
    } else {
      runs.removeAll { run in
        guard condition(run) else { return false }
        cancelled.append(run)
        return true
      }
      for run in cancelled { runIndex?.remove(run) }
      if runs.isEmpty { (runIndex, hasNext) = (nil, false) }
    }
    for run in cancelled {
      run.isHeld = false
      run.task?.cancel()
      if let task = run.task { stopping[run.number] = task }
    }
    return cancelled
  }
}

/// A store's work that may not begin yet.
public protocol HeldWork: AnyObject {
  /// The piece that has waited longest may begin; it does not if it was cancelled meanwhile.
  func beginNext()
}

extension EffectRunner: HeldWork {
  func beginNext() {
    let run = held[nextHeld]
    nextHeld += 1
    if nextHeld == held.count {
      held = []
      nextHeld = 0
    }
    guard run.isHeld else { return }
    run.isHeld = false
    run.task = start(run.work, run.number)
  }
}

/// A piece of work that would keep others waiting where it is asked for, such as writing a large state.
///
/// No handle of it is kept: it waits for nothing, so it ends by itself.
public enum Offload {
  /// Does it on a thread of the pool, and then calls `body` there.
  public static func `do`<Outcome: Sendable>(
    _ work: @escaping @Sendable () -> Outcome,
    then body: @escaping @Sendable (Outcome) async -> Void
  ) {
    Task { @concurrent in await body(work()) }
  }

  /// Calls `body` on a thread of the pool after a time.
  public static func wait(_ time: Duration, then body: @escaping @Sendable () async -> Void) {
    Task { @concurrent in
      // Nobody cancels it.
      try? await Task.sleep(for: time)
      await body()
    }
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
