// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import Synchronization

/// A tracker that detects when a server under test is idle: when each running effect waits for the
/// clock, for an injected fault, or for something outside the server.
///
/// Under test, effects and the shard run on one thread, in the order in which their jobs were
/// enqueued, and each job is counted. So the same inputs always cause the same output in the same
/// order.
public final class IdleTracker: Sendable {
  private let pieces = Atomic(0)
  private let reached = Lock(Callback())
  private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let checkThread: @Sendable () -> Void
  let outside: OutsideWork

  /// Creates a tracker.
  ///
  /// - Parameters:
  ///   - outside: Work on other threads that must end before the server is idle.
  ///   - checkThread: Traps when it is called on a thread other than that of `execute`.
  ///   - execute: Runs a closure on one thread, after all closures that were passed before.
  public init(
    outside: OutsideWork = OutsideWork(),
    checkThread: @escaping @Sendable () -> Void,
    execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.outside = outside
    self.checkThread = checkThread
    self.execute = execute
    outside.whenEnded { [weak self] in self?.checkIdle() }
  }

  /// True if a job waits to run, or work on another thread has not ended.
  var isBusy: Bool { pieces.load(ordering: .relaxed) > 0 || outside.isRunning }

  /// Calls `body` on the thread each time the last job has run.
  func whenIdle(_ body: @escaping @Sendable () -> Void) {
    reached.withLock { $0.call = body }
  }

  /// The executor of effects.
  var workExecutor: any TaskExecutor { WorkExecutor(tracker: self) }
  /// The executor of the shard.
  var shardExecutor: any SerialExecutor { ShardExecutor(tracker: self) }

  /// Calls the body of `whenIdle` again if the server is idle.
  func checkIdle() { run {} }

  private func run(_ piece: @escaping @Sendable () -> Void) {
    pieces.add(1, ordering: .relaxed)
    execute {
      piece()
      self.pieces.subtract(1, ordering: .relaxed)
      if !self.isBusy { self.reached.withLock { $0.call }?() }
    }
  }

  private final class WorkExecutor: TaskExecutor {
    private let tracker: IdleTracker
    init(tracker: IdleTracker) { self.tracker = tracker }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      tracker.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  private final class ShardExecutor: ClosureExecutor {
    private let tracker: IdleTracker
    init(tracker: IdleTracker) { self.tracker = tracker }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      tracker.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func enqueue(_ body: @escaping @Sendable () -> Void) { tracker.run(body) }

    func checkIsolated() { tracker.checkThread() }
  }
}
