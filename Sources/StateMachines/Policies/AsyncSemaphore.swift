// SPDX-License-Identifier: Apache-2.0

/// An async semaphore: limits how many tasks do something at the same time. The other tasks wait in
/// the order in which they came.
///
/// A waiter is never refused. A cancelled waiter leaves the queue. A released permit goes directly
/// to the task that has waited longest, so that a task that comes later cannot overtake.
public final class AsyncSemaphore: Sendable {
  private struct Waiter {
    let count: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    var waiters: [Int: Waiter] = [:]
    /// The numbers of waiters in the order in which they came, including some that have left.
    var queue: [Int] = []
    /// The number of entries of `queue` that have been served.
    var served = 0
    var lastNumber = 0
    /// The numbers of tasks that were cancelled before they began to wait.
    var cancelled: Set<Int> = []

    /// Removes and returns the waiters that have waited longest, as far as permits are free.
    mutating func nextWaiters() -> [Waiter] {
      var next: [Waiter] = []
      while served < queue.count {
        if let waiter = waiters[queue[served]] {
          guard waiter.count <= free else { break }
          free -= waiter.count
          waiters[queue[served]] = nil
          next.append(waiter)
        }
        served += 1
      }
      removeServed()
      return next
    }

    /// Removes served and cancelled entries once the queue is longer than twice the number of
    /// waiters plus 32.
    mutating func removeServed() {
      guard queue.count > 2 * waiters.count + 32 else { return }
      queue = queue[served...].filter { waiters[$0] != nil }
      served = 0
    }
  }

  private let state: Lock<State>

  /// Creates a semaphore.
  ///
  /// - Parameter limit: The number of permits; at least 1.
  public init(_ limit: Int) {
    precondition(limit >= 1, "a semaphore needs a limit of at least 1")
    state = Lock(State(free: limit))
  }

  /// The number of tasks that wait.
  public var waiting: Int { state.withLock { $0.waiters.count } }

  /// Calls `body` with one permit, and releases the permit at the end.
  ///
  /// - Returns: The outcome of `body`; nil if the task was cancelled before a permit was free.
  public func withPermit<Outcome>(_ body: () async -> Outcome) async -> Outcome? {
    await withPermits(1, body)
  }

  /// Calls `body` with several permits. Tasks that come later wait until this call has its permits.
  ///
  /// - Parameters:
  ///   - count: The number of permits; at most the limit.
  ///   - body: The work; the permits are released at its end.
  /// - Returns: The outcome of `body`; nil if the task was cancelled before the permits were free.
  public func withPermits<Outcome>(
    _ count: Int, _ body: () async -> Outcome
  ) async -> Outcome? {
    guard await acquire(count) else { return nil }
    defer { release(count) }
    return await body()
  }

  /// Waits for permits.
  ///
  /// - Returns: True if the permits were acquired; false if the task was cancelled first.
  private func acquire(_ count: Int) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    // A task that is cancelled right after it got its permit must not stay in `cancelled`.
    defer { state.withLock { _ = $0.cancelled.remove(number) } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isOver: Bool? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return false }
          if state.waiters.isEmpty, state.free >= count {
            state.free -= count
            return true
          }
          state.waiters[number] = Waiter(count: count, continuation: waiter)
          state.queue.append(number)
          return nil
        }
        if let isOver { waiter.resume(returning: isOver) }
      }
    } onCancel: {
      let (waiter, next) = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: number)
        if waiter == nil { state.cancelled.insert(number) }
        // The cancelled waiter may have needed more permits than the waiters after it.
        return (waiter, state.nextWaiters())
      }
      waiter?.continuation.resume(returning: false)
      for waiter in next { waiter.continuation.resume(returning: true) }
    }
  }

  private func release(_ count: Int) {
    let next = state.withLock { state in
      state.free += count
      return state.nextWaiters()
    }
    for waiter in next { waiter.continuation.resume(returning: true) }
  }
}
