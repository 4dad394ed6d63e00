// SPDX-License-Identifier: Apache-2.0

/// Lets go of work that does not hear that it was cancelled, without losing sight of it.
///
/// Cancelling is a request. Code that blocks, or that swallows its cancellation, would hold up
/// whoever cancelled it: a timeout that has to wait for the end of what it timed out is none. Work
/// that runs by `leavable` is left instead, when whoever waits for it is cancelled, and becomes a
/// stray. Its task still has a parent: `collect` returns when the last stray has ended.
public final class AbandonedTasks: Sendable {
  private typealias Piece = @Sendable () async -> Void

  private let pieces: AsyncStream<Piece>.Continuation
  private let count = Lock(0)

  private init(_ pieces: AsyncStream<Piece>.Continuation) { self.pieces = pieces }

  /// How many pieces of work have been left and go on.
  public var remaining: Int { count.withLock { $0 } }

  /// Calls `body` and then waits for what it has left.
  public static func collect(_ body: @escaping @Sendable (AbandonedTasks) async -> Void) async {
    let (pieces, continuation) = AsyncStream.makeStream(of: Piece.self)
    await withDiscardingTaskGroup { group in
      group.addTask {
        await body(AbandonedTasks(continuation))
        continuation.finish()
      }
      for await piece in pieces { group.addTask { await piece() } }
    }
  }

  /// Carries out work, and leaves it when the caller's task is cancelled; the work is cancelled
  /// too.
  ///
  /// - Parameter body: The work, in a task of its own.
  /// - Returns: What it gave; nil if it was left.
  public func leavable<Outcome: Sendable>(
    _ body: @escaping @Sendable () async -> Outcome
  ) async -> Outcome? {
    let leaving = Leaving<Outcome>()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard leaving.begin(continuation) else { return continuation.resume(returning: nil) }
        pieces.yield { await self.run(body, leaving) }
      }
    } onCancel: {
      // Counted before the caller goes on, who may ask how many there are.
      leaving.leave { count.withLock { $0 += 1 } }
    }
  }

  private func run<Outcome: Sendable>(
    _ body: @escaping @Sendable () async -> Outcome, _ leaving: Leaving<Outcome>
  ) async {
    // Nothing begins that has been left before its turn.
    guard leaving.isAwaited else { return count.withLock { $0 -= 1 } }
    await withDiscardingTaskGroup { group in
      group.addTask {
        let outcome = await body()
        if leaving.end(outcome) { self.count.withLock { $0 -= 1 } }
      }
      // The one way to cancel a single child.
      await leaving.isOver()
      group.cancelAll()
    }
  }
}

/// One piece of work and its caller: which of them is first to end what they have together.
private final class Leaving<Outcome: Sendable>: Sendable {
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

  /// The caller begins to wait.
  /// - Returns: Whether it has not been cancelled already.
  func begin(_ continuation: CheckedContinuation<Outcome?, Never>) -> Bool {
    state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(continuation)
      return true
    }
  }

  /// Whether the caller waits.
  var isAwaited: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }

  /// The caller is cancelled.
  /// - Parameter willLeave: Called if work is left that goes on.
  func leave(_ willLeave: () -> Void) {
    let continuation = state.withLock { state -> CheckedContinuation<Outcome?, Never>? in
      switch state {
      case .new:
        state = .left
        return nil
      case .waiting(let continuation):
        state = .left
        willLeave()
        return continuation
      case .left, .ended:
        return nil
      }
    }
    continuation?.resume(returning: nil)
    finish.finish()
  }

  /// The work has ended.
  /// - Returns: Whether it had been left.
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

  /// Returns when the work has ended, the caller has left, or the task is cancelled.
  func isOver() async {
    for await _ in over {}
  }
}
