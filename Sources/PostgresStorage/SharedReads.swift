// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Reads that concurrent tasks share: one read serves all tasks that wait for the same key.
///
/// A task that arrives during a read joins the next read: the running one may not see a change that
/// the task knows about.
final class SharedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct State {
    /// The keys of running reads, each with the tasks that wait for the next read.
    var waiting: [Key: [AwaitedResult<WaitOutcome>]] = [:]
  }

  /// The end of a wait.
  private enum WaitOutcome: Sendable {
    /// The value that another task has read.
    case read(Value)
    /// The task reads, for itself and these.
    case reads([AwaitedResult<WaitOutcome>])
  }

  private let state = Lock(State())

  /// Reads a value.
  ///
  /// - Parameters:
  ///   - key: Identifies what is read.
  ///   - body: Reads it.
  func read(_ key: Key, _ body: () async throws -> Value) async throws -> Value {
    let outcome = AwaitedResult<WaitOutcome>()
    let isFirst = state.withLock { state in
      if state.waiting[key] == nil {
        state.waiting[key] = []
        return true
      }
      state.waiting[key]?.append(outcome)
      return false
    }
    var others: [AwaitedResult<WaitOutcome>] = []
    if !isFirst {
      switch try await outcome.wait() {
      case .read(let value): return value
      case .reads(let joined): others = joined
      }
    }
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    startNextRead(key)
    switch result {
    case .success(let value): for other in others { other.end(.success(.read(value))) }
    // The task may have been cancelled: each of the others reads for itself.
    case .failure: for other in others { other.end(.success(.reads([]))) }
    }
    return try result.get()
  }

  /// Starts the next read: the first waiting task that is not cancelled reads for all that wait.
  private func startNextRead(_ key: Key) {
    state.withLock { state in
      var waiting = state.waiting[key] ?? []
      while !waiting.isEmpty {
        let next = waiting.removeFirst()
        // A cancelled task does not read.
        guard next.end(.success(.reads(waiting))) else { continue }
        state.waiting[key] = []
        return
      }
      state.waiting[key] = nil
    }
  }
}
