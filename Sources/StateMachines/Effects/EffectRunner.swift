// SPDX-License-Identifier: Apache-2.0

/// Starts the work of one store, keeps the task handles, cancels work and waits for its end.
///
/// Only here does a store start tasks that no caller awaits. Each handle is kept until its work has
/// reported its end, also for cancelled work. After all tasks of `unfinished` have been awaited,
/// nothing runs.
final class EffectRunner<Action: Sendable> {
  // Weak: the host owns the store, and the store owns this runner.
  private weak var host: (any StoreHost)?
  private let store: StoreNumber
  let environment: StoreEnvironment
  /// The queue of replies of the store, if the environment has none; nil until the first exchange.
  private var ownReplies: ReplyQueue?
  private var parts: PartNumbers?
  /// The runs in the order in which they began, which is the order of their numbers.
  // Not a deque, although usually the first one ends first: most stores have few runs, and search them.
  private var runs: [Run] = []
  /// An index to find runs by id and input; nil while there are few runs.
  private var runIndex: RunIndex?
  /// True if an effect has waited for the end of a run since `runs` was empty.
  private var hasNext = false
  /// True if one of these was throttled.
  private var hasThrottled = false
  /// True if work has had a span since `runs` was empty.
  private(set) var isTraced = false
  private var stopping: [RunNumber: Task<Void, Never>] = [:]
  private var lastNumber: UInt64 = 0
  /// Called for each piece of work that has to wait; nil if work begins immediately.
  private var hold: ((@escaping () -> Void) -> Void)?
  private var queues = SerialQueues()
  /// The span of the work that the store performs now; nil if it is not traced.
  var cause: (any TraceSpan)? { didSet { if cause != nil { isTraced = true } } }

  init(host: any StoreHost, store: StoreNumber, environment: StoreEnvironment) {
    self.host = host
    self.store = store
    self.environment = environment
  }

  /// Reports the named parts of work that begins from now on.
  func reportParts() { parts = parts ?? PartNumbers() }

  /// Makes work wait from now on: `hold` is called for each piece with the closure that begins it.
  func delayWork(by hold: @escaping (@escaping () -> Void) -> Void) { self.hold = hold }

  /// Returns the operation with the next number.
  func nextOperation(_ name: String) -> Operation {
    lastNumber += 1
    return Operation(name: name, number: lastNumber)
  }

  /// Begins work for an input, immediately or when the host permits it.
  ///
  /// - Parameters:
  ///   - window: The window that is open while the work lasts.
  ///   - next: The effect to perform at the end of the work.
  /// - Returns: The run; nil if the work is a feed that runs already.
  func begin(
    _ work: Work<Action>, for inputID: InputID, window: EffectID? = nil, next: Next? = nil
  ) -> Run? {
    if let id = work.id, work.isFeed,
      candidates(id).contains(where: { $0.work.id == id && $0.isFeed })
    {
      return nil
    }
    let run = Run(work, nextOperation(work.name), window: window, inputID, next: next, cause: cause)
    if next != nil { hasNext = true }
    append(run)
    if let hold {
      run.isHeld = true
      hold { self.beginHeld(run) }
    } else {
      startInOrder(run)
    }
    return run
  }

  /// Begins work that has waited, unless it was cancelled.
  private func beginHeld(_ run: Run) {
    guard run.isHeld else { return }
    run.isHeld = false
    startInOrder(run)
  }

  /// Starts work, or adds it to its queue if other work of the queue runs.
  private func startInOrder(_ run: Run) {
    if let queue = run.work.queue, !run.isFeed, !queues.add(run.number, to: queue) { return }
    start(run)
  }

  /// Starts the next work of the queue of a run that has ended.
  private func leaveQueue(_ number: RunNumber) {
    if let next = queues.ended(number, { run($0) != nil }), let run = run(next) { start(run) }
  }

  private func start(_ run: Run) {
    if run.work.exchange != nil, !run.isFeed { run.exchangeEnded = environment.beginExchange?() }
    run.trace { run.task = start(run.work, run.number, run.span) }
  }

  /// - Returns: The task of the work; nil if another party does it.
  private func start(
    _ work: Work<Action>, _ number: RunNumber, _ span: (any TraceSpan)?
  ) -> Task<Void, Never>? {
    let store = store
    work.began?()
    if let exchange = work.exchange {
      if let queue = replyQueue() {
        exchange(
          ExchangeReply(
            queue: queue, store: store, run: number, clock: environment.clock, span: span))
      }
      return nil
    }
    // Weak here too: long work, such as a feed, must not keep the host and its stores alive.
    let line = EffectLine(clock: environment.clock, parts: parts) {
      [weak host] news in
      guard news.isOfPart || !Task.isCancelled else { return }
      await host?.deliver(EffectMessage(store: store, run: number, news: news))
    }
    return Task(executorPreference: environment.executor) { [weak host] in
      await work.body(EffectContext(line))
      await host?.deliver(EffectMessage(store: store, run: number, news: .ended))
    }
  }

  /// Returns nil if the host does not exist any more.
  private func replyQueue() -> ReplyQueue? {
    if let replies = environment.replies ?? ownReplies { return replies }
    ownReplies = host.map { ReplyQueue(host: $0) }
    return ownReplies
  }

  // A linear search is faster than the index for so few runs.
  private static var fewRuns: Int { 32 }

  private func append(_ run: Run) {
    runs.append(run)
    environment.effects?.began()
    if runIndex != nil {
      runIndex?.add(run)
    } else if runs.count > Self.fewRuns {
      let index = RunIndex()
      for run in runs { index.add(run) }
      runIndex = index
    }
  }

  /// Forgets what has been noted since there were no runs.
  private func clearMarks() {
    runIndex = nil
    (hasNext, hasThrottled, isTraced) = (false, false, false)
  }

  private func remove(at place: Int) -> Run {
    let run = place == runs.count - 1 ? runs.removeLast() : runs.remove(at: place)
    environment.effects?.ended(1)
    run.exchangeEnded?()
    runIndex?.remove(run)
    if runs.isEmpty { clearMarks() }
    return run
  }

  /// Returns runs that include all runs with an id, or with a window of this id, in the order in
  /// which they began.
  private func candidates(_ id: EffectID) -> [Run] {
    runIndex.map { $0.runs(id).compactMap { run($0) } } ?? runs
  }

  /// Returns the run with a number; nil if it has ended or was cancelled.
  func run(_ number: RunNumber) -> Run? { index(of: number).map { runs[$0] } }

  private func index(of number: RunNumber) -> Int? {
    // Usually the work that began first ends first.
    if let first = runs.first, first.number == number { return 0 }
    let index = runs.partitioningIndex { $0.number.rawValue >= number.rawValue }
    return index < runs.count && runs[index].number == number ? index : nil
  }

  /// Returns the wait that keeps a window open.
  func run(window: EffectID) -> Run? { candidates(window).first { $0.window == window } }

  /// Records that the work of a run has given an action that stands for a failure.
  func failed(_ run: Run) {
    if !run.hasFailed { environment.effects?.failed.add() }
    run.hasFailed = true
  }

  /// Records that a named part of a run's work begins.
  ///
  /// - Returns: True if observers are notified; false if the run is over.
  func partBegan(_ part: Operation, of number: RunNumber) -> Bool {
    run(number)?.parts.append(part) != nil
  }

  /// Records that a named part of a run's work has ended.
  ///
  /// - Returns: True if observers are notified; false if the part has ended with its run.
  func partEnded(_ part: Operation, of number: RunNumber) -> Bool {
    guard let run = run(number), let index = run.parts.firstIndex(of: part) else { return false }
    run.parts.remove(at: index)
    return true
  }

  /// Replaces the effect that is performed at the end of a run.
  ///
  /// - Returns: The previous one.
  func replaceNext(of run: Run, by next: Next) -> Next? {
    defer { run.next = next }
    (hasNext, hasThrottled) = (true, true)
    return run.next
  }

  /// Records that a run continues as a feed.
  ///
  /// - Returns: True if the run was not a feed before.
  func becameFeed(_ run: Run) -> Bool {
    guard !run.isFeed, index(of: run.number) != nil else { return false }
    run.isFeed = true
    run.endSpan(.finished)
    leaveQueue(run.number)
    return true
  }

  /// Removes a run whose work has returned.
  ///
  /// - Returns: The run; nil if it had been cancelled before.
  func ended(_ number: RunNumber) -> Run? {
    if !stopping.isEmpty { stopping[number] = nil }
    leaveQueue(number)
    guard let place = index(of: number) else { return nil }
    let run = remove(at: place)
    run.endSpan(run.hasFailed ? .failed : .finished)
    return run
  }

  /// Cancels the runs with an id, and the waits of its window.
  ///
  /// - Parameter feeds: False to leave feeds running.
  func cancel(_ id: EffectID, feeds: Bool = true) -> [Run] {
    cancel(runIndex?.runs(id)) { ($0.work.id == id || $0.window == id) && (feeds || !$0.isFeed) }
  }

  /// Cancels the runs of child machines that are absent from a state.
  func cancelVanished(in state: any Sendable) -> [Run] {
    cancel(nil) { $0.work.isPresent?(state) == false }
  }

  /// Cancels the feeds that a run replaces.
  func cancelFeeds(before run: Run) -> [Run] {
    guard let id = run.work.id else { return [] }
    return cancel(runIndex?.runs(id)) {
      $0.work.id == id && $0.isFeed && $0.number != run.number
    }
  }

  /// Cancels the runs of an input, except its feeds and exchanges: what another party has been asked
  /// to do is done.
  func cancel(_ inputID: InputID) -> [Run] {
    cancel(runIndex?.runs(of: inputID)) {
      $0.inputID == inputID && !$0.isFeed && $0.work.exchange == nil
    }
  }

  /// Removes the effects of an input that wait for the end of other runs.
  ///
  /// - Returns: The removed effects.
  func removeNext(of inputID: InputID) -> [Next] { removeNext { $0.inputID == inputID } }

  /// Removes the throttled effects with an id that wait for the end of a window.
  ///
  /// - Returns: The removed effects.
  func removeNext(_ id: EffectID) -> [Next] {
    hasThrottled ? removeNext { $0.wait?.id == id } : []
  }

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

  /// The handles of all tasks that have not ended, including cancelled ones.
  var unfinished: [Task<Void, Never>] { runs.compactMap(\.task) + stopping.values }

  /// True if `unfinished` is not empty.
  var hasUnfinished: Bool { !stopping.isEmpty || runs.contains { $0.task != nil } }

  /// The runs in the order in which they began, without feeds.
  var running: [Run] { runs.filter { !$0.isFeed } }

  /// A Boolean value that indicates whether work of inputs up to this one runs, or waits for the
  /// end of a run. Feeds do not count.
  func hasWork(through inputID: InputID) -> Bool {
    runs.contains {
      !$0.isFeed && $0.inputID.rawValue <= inputID.rawValue
        || $0.next.map { $0.inputID.rawValue <= inputID.rawValue } ?? false
    }
  }

  /// True if there are no runs except feeds of other parties.
  var onlyListens: Bool { runs.allSatisfy(\.work.onlyListens) }

  /// True if there are no runs.
  var isIdle: Bool { runs.isEmpty }

  /// Cancels runs in the order in which they began.
  ///
  /// - Parameter candidates: Runs that include all runs that meet the condition; nil for all runs.
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
      environment.effects?.ended(cancelled.count)
      for run in cancelled {
        run.exchangeEnded?()
        runIndex?.remove(run)
      }
      if runs.isEmpty { clearMarks() }
    }
    for run in cancelled {
      run.isHeld = false
      run.endSpan(.cancelled)
      run.task?.cancel()
      if let task = run.task { stopping[run.number] = task }
    }
    return cancelled
  }
}
