// SPDX-License-Identifier: Apache-2.0

/// The messages for the stores of one host, from any thread, delivered in the order in which they
/// were added.
public final class ReplyQueue: Sendable {
  private struct State {
    var messages: [EffectMessage] = []
    /// Called after the messages have been delivered.
    var callbacks: [@Sendable () -> Void] = []
    var isDelivering = false
  }

  private weak let host: (any StoreHost)?
  private let state = Lock(State())

  /// Creates an empty queue for the stores of a host.
  public init(host: any StoreHost) { self.host = host }

  /// Adds messages, which are delivered soon, together with others.
  ///
  /// - Parameters:
  ///   - messages: The messages, in their order.
  ///   - delivered: Called after they have been delivered; nil for no call.
  public func add(_ messages: [EffectMessage], delivered: (@Sendable () -> Void)? = nil) {
    let isFirst = state.withLock { state in
      state.messages += messages
      if let delivered { state.callbacks.append(delivered) }
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    if isFirst { ReplyTask.begin { [self] in await deliver() } }
  }

  private func deliver() async {
    while let (messages, callbacks) = take() {
      await host?.deliver(messages)
      for callback in callbacks { callback() }
    }
  }

  /// Removes all messages; nil if there are none, and then the next one begins a new delivery.
  private func take() -> ([EffectMessage], [@Sendable () -> Void])? {
    state.withLock { state in
      guard !state.messages.isEmpty || !state.callbacks.isEmpty else {
        state.isDelivering = false
        return nil
      }
      defer { (state.messages, state.callbacks) = ([], []) }
      return (state.messages, state.callbacks)
    }
  }
}
