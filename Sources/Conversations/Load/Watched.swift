// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A state in which one task at a time waits for a condition.
///
/// A wait that is cancelled does not affect later ones.
final class Watched<State: Sendable>: Sendable {
  private struct Contents {
    var state: State
    /// Ends the wait for the next change.
    var waiting: AsyncStream<Never>.Continuation?
  }

  private let contents: Mutex<Contents>

  /// Creates the state with its first value.
  init(_ state: State) { contents = Mutex(Contents(state: state)) }

  /// Reads or changes the state; the task that waits checks its condition again after a change.
  ///
  /// - Parameter notifies: False if no condition depends on the change.
  func withLock<Value>(
    notifies: Bool = false, _ body: (inout State) -> Value
  ) -> Value where Value: Sendable {
    let (value, waiting) = contents.withLock { contents in
      let value = body(&contents.state)
      guard notifies else { return (value, AsyncStream<Never>.Continuation?.none) }
      defer { contents.waiting = nil }
      return (value, contents.waiting)
    }
    waiting?.finish()
    return value
  }

  /// Waits until a function returns a value; nil if the task is cancelled.
  ///
  /// - Parameter body: Returns nil to wait for the next change.
  func first<Value: Sendable>(_ body: (State) -> Value?) async -> Value? {
    while !Task.isCancelled {
      // A cancelled wait ends its stream, so each wait has its own.
      let (changes, waiting) = AsyncStream.makeStream(of: Never.self)
      let value = contents.withLock { contents in
        let value = body(contents.state)
        if value == nil { contents.waiting = waiting }
        return value
      }
      if let value { return value }
      for await _ in changes {}
    }
    return nil
  }
}
