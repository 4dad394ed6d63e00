// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// Where operations line up for the database in the order in which their stores began them.
///
/// The work of each is a task of its own, and nothing says which of two tasks comes first to the
/// writer's queue. So each takes a place when its store begins it, and goes to the queue when those
/// before it have got there or have given up.
final class OperationLine: Sendable {
  private struct State {
    /// The first place that has not been left, and the one that is taken next.
    var first: UInt64 = 0
    var next: UInt64 = 0
    /// Places behind the first one that have been left.
    var left: Set<UInt64> = []
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]

    mutating func leave(_ number: UInt64) -> CheckedContinuation<Void, Never>? {
      guard number == first else {
        left.insert(number)
        return nil
      }
      first += 1
      while left.remove(first) != nil { first += 1 }
      return waiters.removeValue(forKey: first)
    }
  }

  private let state = Lock(State())

  fileprivate func take() -> UInt64 {
    state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
  }

  fileprivate func leave(_ number: UInt64) {
    state.withLock { $0.leave(number) }?.resume()
  }

  fileprivate func wait(_ number: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          if state.first == number || Task.isCancelled { return true }
          state.waiters[number] = continuation
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }
}

/// The place of one operation in the line; it is left at the latest when nobody holds it any more, so
/// that work which never comes holds nobody up.
final class OperationPlace: Sendable {
  private let line: OperationLine
  /// Nil before it is taken, and after it was left.
  private let number = Lock<UInt64?>(nil)

  init(in line: OperationLine) { self.line = line }

  deinit { leave() }

  /// The store begins the operation.
  func take() {
    let next = line.take()
    number.withLock { $0 = next }
  }

  /// Returns when all that were begun before are on their way, or when the task is cancelled.
  func wait() async {
    if let number = number.withLock({ $0 }) { await line.wait(number) }
  }

  /// Lets the next one go.
  func leave() {
    let left = number.withLock { number in
      defer { number = nil }
      return number
    }
    if let left { line.leave(left) }
  }
}
