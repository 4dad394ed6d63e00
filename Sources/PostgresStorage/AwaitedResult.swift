// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A result for which one task waits.
final class AwaitedResult<Value: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case ended(Result<Value, any Error>)
  }

  private let state = Lock(State.open)

  /// Sets the result, unless there is one.
  ///
  /// - Returns: True if there was none.
  @discardableResult
  func end(_ result: Result<Value, any Error>) -> Bool {
    let (waiter, isFirst) = state.withLock {
      state -> (CheckedContinuation<Value, any Error>?, Bool) in
      switch state {
      case .open:
        state = .ended(result)
        return (nil, true)
      case .waiting(let waiter):
        state = .ended(result)
        return (waiter, true)
      case .ended: return (nil, false)
      }
    }
    waiter?.resume(with: result)
    return isFirst
  }

  /// Returns the result.
  ///
  /// - Throws: The error of the result, or a `CancellationError` as soon as the task is cancelled.
  func wait() async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Value, any Error>? in
          if case .ended(let result) = state { return result }
          state = .waiting(continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      end(.failure(CancellationError()))
    }
  }
}
