// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The messages for the stores of one host, from any thread, delivered in the order in which they
/// were added.
public final class ReplyQueue: Sendable {
  private struct State {
    var messages: Deque<EffectMessage> = []
    /// Each is called after the messages that were added before.
    var callbacks: Deque<(after: UInt64, body: @Sendable () -> Void)> = []
    /// The number of all messages that have been taken.
    var takenCount: UInt64 = 0
    /// True if `messages` has held many messages.
    var isLarge = false
    var isDelivering = false
  }

  /// The most messages that are delivered in one turn of the host, which serves others in between.
  private static let maximumCount = 256

  private weak let host: (any StoreHost)?
  private let state = Lock(State())

  /// Creates an empty queue for the stores of a host.
  public init(host: any StoreHost) { self.host = host }

  /// Adds messages, which are delivered soon, together with others.
  ///
  /// - Parameters:
  ///   - messages: The messages, in their order.
  ///   - delivered: Called on the actor of the host when they have been delivered, or on this thread if
  ///     the host does not exist any more; nil for no call. Never called if the executor of the
  ///     host has ended.
  public func add(_ messages: [EffectMessage], delivered: (@Sendable () -> Void)? = nil) {
    let isFirst = state.withLock { state in
      state.messages += messages
      if state.messages.count > 4 * Self.maximumCount { state.isLarge = true }
      if let delivered {
        state.callbacks.append((state.takenCount + UInt64(state.messages.count), delivered))
      }
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    if isFirst { begin() }
  }

  /// Calls a closure on the actor of the host after its present turn, so that it handles together what
  /// the turn has begun. Called now if the host does not exist any more, and never if the executor of
  /// the host has ended.
  public func afterTurn(_ body: @escaping @Sendable () -> Void) {
    guard let host else { return body() }
    Self.perform(body, on: host)
  }

  private static func perform(_ body: @escaping @Sendable () -> Void, on host: some StoreHost) {
    host.perform { _ in body() }
  }

  private func begin() {
    guard let host else { return end() }
    deliver(to: host)
  }

  private func deliver(to host: some StoreHost) {
    host.perform { [self] host in
      let (messages, callbacks) = take()
      host.deliver(messages)
      for callback in callbacks { callback() }
      // Further messages are delivered after the other jobs of the host.
      if hasMore() { begin() }
    }
  }

  /// Drops the messages: their stores do not exist any more.
  private func end() {
    repeat {
      for callback in take().callbacks { callback() }
    } while hasMore()
  }

  private func take() -> (messages: [EffectMessage], callbacks: [@Sendable () -> Void]) {
    state.withLock { state in
      let messages = Array(state.messages.prefix(Self.maximumCount))
      state.messages.removeFirst(messages.count)
      // After a burst, its memory is released.
      if state.messages.isEmpty, state.isLarge { (state.messages, state.isLarge) = ([], false) }
      state.takenCount += UInt64(messages.count)
      var callbacks: [@Sendable () -> Void] = []
      while let next = state.callbacks.first, next.after <= state.takenCount {
        callbacks.append(next.body)
        state.callbacks.removeFirst()
      }
      return (messages, callbacks)
    }
  }

  /// Returns true if there are messages; if not, the next one begins a new delivery.
  private func hasMore() -> Bool {
    state.withLock { state in
      state.isDelivering = !(state.messages.isEmpty && state.callbacks.isEmpty)
      return state.isDelivering
    }
  }
}
