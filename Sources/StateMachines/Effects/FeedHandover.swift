// SPDX-License-Identifier: Apache-2.0

/// The feeds of one store on the same data, each of which replaces the one before.
///
/// A new feed reads the data while the older one continues to send changes. If the older one sends a
/// change meanwhile, the store has newer data than those that were read, and would go back to them.
/// Therefore only one feed sends at a time, and a new one reads again in that case.
package final class FeedHandover: Sendable {
  private struct State {
    var isSending = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// The number of times that a feed has begun to send.
    var sent = 0
  }

  private let state = Lock(State())

  /// Creates the value of a store without a feed.
  package init() {}

  /// Sends a change while no other feed sends.
  package func send(_ body: () async -> Void) async {
    await enter()
    state.withLock { $0.sent += 1 }
    await body()
    leave()
  }

  /// Reads the data and sends them as the first action of a new feed.
  ///
  /// - Parameters:
  ///   - read: Reads the data; called once more if another feed has sent something meanwhile.
  ///   - send: Sends the data that were read last.
  /// - Returns: The data that were read last.
  /// - Throws: The error of `read`; nothing was sent then.
  package func takeOver<Value, Failure: Error>(
    _ read: () async throws(Failure) -> Value, sending send: (Value) async -> Void
  ) async throws(Failure) -> Value {
    let before = state.withLock { $0.sent }
    var value = try await read()
    await enter()
    defer { leave() }
    if state.withLock({ $0.sent }) != before { value = try await read() }
    state.withLock { $0.sent += 1 }
    await send(value)
    return value
  }

  /// Waits until no feed sends. A feed that is cancelled meanwhile waits too: its action is dropped.
  private func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isSending {
          state.waiting.append(continuation)
          return false
        }
        state.isSending = true
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave() {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.isSending = false
      return nil
    }?.resume()
  }
}
