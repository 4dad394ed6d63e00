// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import Synchronization

/// Knows when a server under test rests: when every running effect waits for the clock, for an
/// injected fault, or for something outside.
///
/// Work and the shard run on one thread then, in the order in which they became ready, and each
/// piece is counted. So the same inputs give the same frames in the same order, every time.
public final class IdleTracker: Sendable {
  private let pieces = Atomic(0)
  private let reached = Lock(Callback())
  private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let checkThread: @Sendable () -> Void
  private let outside: OutsideWork

  /// - Parameters:
  ///   - outside: Work that goes on elsewhere and has to end before there is rest.
  ///   - checkThread: Traps when called from anywhere but the thread that `execute` uses.
  ///   - execute: Runs something on that thread, after all it was given before.
  public init(
    outside: OutsideWork = OutsideWork(),
    checkThread: @escaping @Sendable () -> Void,
    execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.outside = outside
    self.checkThread = checkThread
    self.execute = execute
    outside.whenEnded { [weak self] in self?.nudge() }
  }

  /// Whether a piece of work is ready that has not run, or goes on elsewhere.
  var isBusy: Bool { pieces.load(ordering: .relaxed) > 0 || outside.isGoingOn }

  /// Calls `body` on the thread each time that the last piece has run.
  func whenReached(_ body: @escaping @Sendable () -> Void) {
    reached.withLock { $0.call = body }
  }

  /// Where work runs.
  var workExecutor: any TaskExecutor { WorkExecutor(rest: self) }
  /// Where the shard runs.
  var shardExecutor: any SerialExecutor { ShardExecutor(rest: self) }

  /// Says once more that the end is reached, if it is.
  func nudge() { run {} }

  private func run(_ piece: @escaping @Sendable () -> Void) {
    pieces.add(1, ordering: .relaxed)
    execute {
      piece()
      self.pieces.subtract(1, ordering: .relaxed)
      if !self.isBusy { self.reached.withLock { $0.call }?() }
    }
  }

  private final class WorkExecutor: TaskExecutor {
    private let rest: IdleTracker
    init(rest: IdleTracker) { self.rest = rest }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      rest.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  private final class ShardExecutor: SerialExecutor {
    private let rest: IdleTracker
    init(rest: IdleTracker) { self.rest = rest }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      rest.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { rest.checkThread() }
  }
}
