// SPDX-License-Identifier: Apache-2.0

/// How many may do something at once; the others wait in the order in which they came.
///
/// Nobody who waits is turned away. Who is cancelled leaves the queue. A permit that is given back
/// goes straight to whoever has waited longest, so that nobody who comes later overtakes.
public final class AsyncSemaphore: Sendable {
  private struct Waiter {
    let count: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    var waiters: [Int: Waiter] = [:]
    /// The numbers of waiters in the order in which they came, of some that have left too.
    var queue: [Int] = []
    /// How many of the queue have been served.
    var served = 0
    var lastNumber = 0
    /// Those that were cancelled before they began to wait.
    var cancelled: Set<Int> = []

    /// Takes out those who have waited longest, as far as there are permits for them.
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
      tidy()
      return next
    }

    /// Makes the queue as short as those who wait, now and then.
    mutating func tidy() {
      guard queue.count > 2 * waiters.count + 32 else { return }
      queue = queue[served...].filter { waiters[$0] != nil }
      served = 0
    }
  }

  private let state: Lock<State>

  /// - Parameter limit: How many permits there are; at least 1.
  public init(_ limit: Int) {
    precondition(limit >= 1, "without a permit everybody would wait for ever")
    state = Lock(State(free: limit))
  }

  /// How many wait.
  public var waiting: Int { state.withLock { $0.waiters.count } }

  /// Does something with a permit, which is given back at its end.
  ///
  /// - Returns: What it gave; nil if the task was cancelled before there was a permit.
  public func withPermit<Outcome>(_ body: () async -> Outcome) async -> Outcome? {
    await withPermits(1, body)
  }

  /// Does something with several permits at once; whoever comes later waits until it has them.
  ///
  /// - Parameters:
  ///   - count: At most as many as there are.
  ///   - body: What is done with them.
  /// - Returns: What it gave; nil if the task was cancelled before there were so many.
  public func withPermits<Outcome>(
    _ count: Int, _ body: () async -> Outcome
  ) async -> Outcome? {
    guard await acquire(count) else { return nil }
    defer { release(count) }
    return await body()
  }

  /// Waits for permits.
  /// - Returns: Whether they are to be given back; not if the task was cancelled first.
  private func acquire(_ count: Int) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    // What is cancelled right after it got its permit must not be remembered for ever.
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
        // It may have waited for more than those behind it.
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
