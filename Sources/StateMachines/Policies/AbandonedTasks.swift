// SPDX-License-Identifier: Apache-2.0

/// The tasks of work that ignores its cancellation; they are abandoned and still awaited here.
///
/// Cancellation is a request. Code that blocks or ignores it would delay the caller: a timeout that
/// waits for the end of the work has no effect. Work that runs in `abandonable` is abandoned
/// instead when the caller is cancelled. Its task still has a parent: `collect` returns when the
/// last abandoned task has ended.
public final class AbandonedTasks: Sendable {
  private typealias Work = @Sendable () async -> Void

  private let works: AsyncStream<Work>.Continuation
  private let count = Lock(0)

  private init(_ works: AsyncStream<Work>.Continuation) { self.works = works }

  /// The number of abandoned tasks that still run.
  public var remaining: Int { count.withLock { $0 } }

  /// Calls `body` and then waits for the tasks that were abandoned.
  public static func collect(_ body: @escaping @Sendable (AbandonedTasks) async -> Void) async {
    let (works, continuation) = AsyncStream.makeStream(of: Work.self)
    await withDiscardingTaskGroup { group in
      group.addTask {
        await body(AbandonedTasks(continuation))
        continuation.finish()
      }
      for await work in works { group.addTask { await work() } }
    }
  }

  /// Runs work, and abandons it when the caller's task is cancelled. The work is cancelled too.
  ///
  /// - Parameter body: The work; it runs in a separate task.
  /// - Returns: The outcome of the work; nil if it was abandoned.
  public func abandonable<Outcome: Sendable>(
    _ body: @escaping @Sendable () async -> Outcome
  ) async -> Outcome? {
    let abandonment = Abandonment<Outcome>()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard abandonment.begin(continuation) else { return continuation.resume(returning: nil) }
        works.yield { await self.run(body, abandonment) }
      }
    } onCancel: {
      // Counted before the caller continues, which may read `remaining`.
      abandonment.abandon { count.withLock { $0 += 1 } }
    }
  }

  private func run<Outcome: Sendable>(
    _ body: @escaping @Sendable () async -> Outcome, _ abandonment: Abandonment<Outcome>
  ) async {
    // Work that was abandoned before it began does not begin.
    guard abandonment.isAwaited else { return count.withLock { $0 -= 1 } }
    await withDiscardingTaskGroup { group in
      group.addTask {
        let outcome = await body()
        if abandonment.end(outcome) { self.count.withLock { $0 -= 1 } }
      }
      // A task group is the only way to cancel a single child task.
      await abandonment.isOver()
      group.cancelAll()
    }
  }
}

/// The shared state of one piece of work and its caller: which of them ends first.
private final class Abandonment<Outcome: Sendable>: Sendable {
  private enum State {
    case new
    case waiting(CheckedContinuation<Outcome?, Never>)
    case left
    case ended
  }

  private let state = Lock(State.new)
  private let over: AsyncStream<Never>
  private let finish: AsyncStream<Never>.Continuation

  init() { (over, finish) = AsyncStream.makeStream() }

  /// Records that the caller begins to wait.
  ///
  /// - Returns: False if the caller has been cancelled already.
  func begin(_ continuation: CheckedContinuation<Outcome?, Never>) -> Bool {
    state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
  }

  /// True while the caller waits.
  var isAwaited: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }

  /// Records that the caller is cancelled, and resumes it.
  ///
  /// - Parameter willAbandon: Called if the work continues and is abandoned.
  func abandon(_ willAbandon: () -> Void) {
    let continuation = state.withLock { state -> CheckedContinuation<Outcome?, Never>? in
      switch state {
      case .new:
        state = .left
        return nil
      case .waiting(let continuation):
        state = .left
        willAbandon()
        return continuation
      case .left, .ended:
        return nil
      }
    }
    continuation?.resume(returning: nil)
    finish.finish()
  }

  /// Records that the work has ended, and resumes the caller.
  ///
  /// - Returns: True if the work had been abandoned.
  func end(_ outcome: Outcome) -> Bool {
    let (continuation, wasLeft) = state.withLock {
      state -> (CheckedContinuation<Outcome?, Never>?, Bool) in
      switch state {
      case .waiting(let continuation):
        state = .ended
        return (continuation, false)
      case .left: return (nil, true)
      case .new, .ended: return (nil, false)
      }
    }
    continuation?.resume(returning: outcome)
    finish.finish()
    return wasLeft
  }

  /// Waits until the work has ended, the caller has left, or the task is cancelled.
  func isOver() async {
    for await _ in over {}
  }
}
