// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// A queue that brings operations to the database in the order in which their stores began them.
///
/// Each operation runs as a separate task, and the order in which tasks reach the writer's queue is
/// undefined. Therefore an operation takes a place when its store begins it, and enters the
/// writer's queue after all earlier operations have entered it or have been abandoned.
public final class OperationLine: Sendable {
  private struct State {
    /// The first place that has not been left.
    var first: UInt64 = 0
    var next: UInt64 = 0
    /// Later places that have been left.
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

  /// Creates an empty queue.
  public init() {}

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

/// The place of one operation in an `OperationLine`.
///
/// The place is left at the latest when this object is released, so that an operation that never
/// runs does not block the others.
public final class OperationPlace: Sendable {
  private let line: OperationLine
  /// Nil before the place is taken and after it was left.
  private let number = Lock<UInt64?>(nil)

  /// Creates a place, which is not taken yet.
  ///
  /// - Parameter line: The queue.
  public init(in line: OperationLine) { self.line = line }

  deinit { leave() }

  /// Takes the next place; called when the store begins the operation.
  public func take() {
    let next = line.take()
    number.withLock { $0 = next }
  }

  /// Waits until all earlier operations have left their places, or until the task is cancelled.
  public func wait() async {
    if let number = number.withLock({ $0 }) { await line.wait(number) }
  }

  /// Leaves the place, so that the next operation can continue.
  public func leave() {
    let left = number.withLock { number in
      defer { number = nil }
      return number
    }
    if let left { line.leave(left) }
  }
}
