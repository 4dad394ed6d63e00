// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Synchronization

/// Runs a shard's jobs on an event loop in slices of 4 ms; after each slice the loop reads its
/// sockets.
///
/// Most jobs deliver an action of an effect to a store. A long list that a thousand stores load
/// makes a thousand jobs, each of which may take long. SwiftNIO's executor would run all ready jobs
/// before it reads a socket again.
final class LoopExecutor: ClosureExecutor {
  private let loop: any EventLoop
  private let now: @Sendable () -> ContinuousClock.Instant
  private let jobs = Lock(Jobs())
  private let yieldQueue: NIOLoopBoundBox<YieldQueue?>
  private let isOver = Atomic(false)

  private enum Ready {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  private struct Jobs {
    var ready: [Ready] = []
    /// True if a call of `run` is scheduled that will run them.
    var isRunScheduled = false
  }

  /// - Parameters:
  ///   - loop: The loop that runs the jobs.
  ///   - now: The clock that measures slices.
  init(
    _ loop: any EventLoop, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.loop = loop
    self.now = now
    yieldQueue = .makeBoxSendingValue(nil, eventLoop: loop)
  }

  /// Sets the queue by which the executor yields to the loop's sockets. Without a queue, all ready
  /// jobs run one after the other. On the loop only.
  func yield(to queue: YieldQueue) { yieldQueue.value = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  /// Adds a closure to the jobs.
  func enqueue(_ body: @escaping @Sendable () -> Void) { add(.closure(body)) }

  private func add(_ item: Ready) {
    let isFirst = jobs.withLock { jobs in
      jobs.ready.append(item)
      defer { jobs.isRunScheduled = true }
      return !jobs.isRunScheduled
    }
    if isFirst { execute { self.run() } }
  }

  /// Runs a body on the loop, after all bodies that were passed before. Does nothing after `end`: a commit
  /// or cancelled work may end later than the server.
  func execute(_ body: @escaping @Sendable () -> Void) {
    if !isOver.load(ordering: .relaxed) { loop.execute(body) }
  }

  /// Records that the loop is about to end.
  func end() { isOver.store(true, ordering: .relaxed) }

  func checkIsolated() { loop.preconditionInEventLoop() }

  private func run() {
    let start = now()
    // A loop that ends reads no sockets any more, so all jobs run: yielding would repeat without
    // end.
    let yieldQueue = yieldQueue.value.flatMap { $0.isOver ? nil : $0 }
    while true {
      let ready = takeReady()
      if ready.isEmpty { return }
      for (index, item) in ready.enumerated() {
        switch item {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .closure(let body): body()
        }
        guard let yieldQueue, now() - start > Self.slice else { continue }
        // Jobs that were added meanwhile stay after the rest.
        jobs.withLock { $0.ready.insert(contentsOf: ready[(index + 1)...], at: 0) }
        return yieldQueue.waitBeforeConnections { self.run() }
      }
    }
  }

  private func takeReady() -> [Ready] {
    jobs.withLock { jobs in
      defer { jobs.ready = [] }
      jobs.isRunScheduled = !jobs.ready.isEmpty
      return jobs.ready
    }
  }

  // As long as a turn may take (`TurnOutcome.isLong`).
  private static let slice = Duration.milliseconds(4)
}
