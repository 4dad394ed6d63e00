// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The positions that the watches of a table have delivered, and the writes that wait for them.
///
/// A write ends after the watches of its table have delivered it, so that the response to an input
/// that waits for its effects comes after the sender's own update.
final class WatchPositions: Sendable {
  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct State {
    /// The position of each running watch; nil while it reads the table.
    var watches: [Int: TablePosition?] = [:]
    var waiters: [Int: (position: TablePosition, waiter: Waiter)] = [:]
    var last = 0

    mutating func issue() -> Int {
      last += 1
      return last
    }

    func isReached(_ position: TablePosition) -> Bool {
      watches.values.allSatisfy { reached in reached.map { $0 >= position } ?? false }
    }

    mutating func release() -> [Waiter] {
      if waiters.isEmpty { return [] }
      let released = waiters.filter { isReached($0.value.position) }
      for number in released.keys { waiters[number] = nil }
      return released.values.map(\.waiter)
    }
  }

  private let state = Lock(State())

  /// Returns a new number, which identifies a watch in the other calls.
  func issue() -> Int { state.withLock { $0.issue() } }

  /// Begins a watch: writes wait for it from now on.
  func begin(_ watch: Int) { state.withLock { $0.watches[watch] = .some(nil) } }

  /// Records that a watch has delivered a position.
  func reached(_ position: TablePosition, by watch: Int) {
    resume { $0.watches[watch] = position }
  }

  /// Ends a watch, or pauses it until it reaches a position.
  func end(_ watch: Int) { resume { $0.watches[watch] = nil } }

  /// Waits until all watches have delivered a position, or until the task is cancelled.
  func wait(for position: TablePosition) async {
    let number = issue()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          // Checked while the lock is held: an earlier cancellation is seen here, and a later one
          // finds the waiter.
          guard !Task.isCancelled, !state.isReached(position) else { return false }
          state.waiters[number] = (position, continuation)
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number)?.waiter }?.resume()
    }
  }

  private func resume(after change: (inout State) -> Void) {
    let released = state.withLock { state in
      change(&state)
      return state.release()
    }
    for waiter in released { waiter.resume() }
  }
}
