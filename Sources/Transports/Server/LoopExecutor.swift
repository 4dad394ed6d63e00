// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// Runs a shard's jobs on an event loop: a few milliseconds of them, then the loop hears its sockets.
///
/// Such a job is most often what an effect has to tell its store. A long list that a thousand stores load
/// makes a thousand of them, each of which may take long, and the executor of SwiftNIO carries out all that
/// are ready before it looks at its sockets again.
final class LoopExecutor: SerialExecutor {
  private let loop: any EventLoop
  private let now: @Sendable () -> ContinuousClock.Instant
  private let jobs = Lock(Jobs())
  private let yieldQueue: NIOLoopBoundBox<YieldQueue?>

  private struct Jobs {
    var ready: [UnownedJob] = []
    /// Whether somebody sees to it that they are run.
    var areAwaited = false
  }

  /// - Parameters:
  ///   - loop: Where jobs run.
  ///   - now: What the time that they take is measured by.
  init(
    _ loop: any EventLoop, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.loop = loop
    self.now = now
    yieldQueue = .makeBoxSendingValue(nil, eventLoop: loop)
  }

  /// Lets the loop hear its sockets by this; before that jobs follow one another. On the loop only.
  func yield(to queue: YieldQueue) { yieldQueue.value = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = jobs.withLock { jobs in
      jobs.ready.append(job)
      defer { jobs.areAwaited = true }
      return !jobs.areAwaited
    }
    if isFirst { loop.execute { self.run() } }
  }

  func checkIsolated() { loop.preconditionInEventLoop() }

  private func run() {
    let start = now()
    // Where nothing can be heard, all are run: a loop that ends does not begin anew for ever.
    let yieldQueue = yieldQueue.value.flatMap { $0.isOver ? nil : $0 }
    while true {
      let ready = takeReady()
      if ready.isEmpty { return }
      for (index, job) in ready.enumerated() {
        job.runSynchronously(on: asUnownedSerialExecutor())
        guard let yieldQueue, now() - start > Self.slice else { continue }
        // Those that have come meanwhile are behind the rest.
        jobs.withLock { $0.ready.insert(contentsOf: ready[(index + 1)...], at: 0) }
        return yieldQueue.waitAhead { self.run() }
      }
    }
  }

  private func takeReady() -> [UnownedJob] {
    jobs.withLock { jobs in
      defer { jobs.ready = [] }
      jobs.areAwaited = !jobs.ready.isEmpty
      return jobs.ready
    }
  }

  // As long as a turn may be (`TurnOutcome.isLong`).
  private static let slice = Duration.milliseconds(4)
}
