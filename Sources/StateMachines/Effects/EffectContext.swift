// SPDX-License-Identifier: Apache-2.0

/// What running work may use: a way to send actions, and the clock.
public struct EffectContext<Action: Sendable>: Sendable {
  /// The store's clock; work never sleeps on another one.
  public let clock: any StoreClock

  private let deliver: @Sendable (EffectMessage.News) async -> Void
  /// The action as the store's own type; nil if it is dropped on the way.
  private let wrap: @Sendable (Action) -> (any Sendable)?

  init(
    clock: any StoreClock, _ deliver: @escaping @Sendable (EffectMessage.News) async -> Void
  ) {
    self.init(clock: clock, deliver: deliver) { $0 }
  }

  private init(
    clock: any StoreClock,
    deliver: @escaping @Sendable (EffectMessage.News) async -> Void,
    wrap: @escaping @Sendable (Action) -> (any Sendable)?
  ) {
    self.clock = clock
    self.deliver = deliver
    self.wrap = wrap
  }

  /// Sends an action and returns when it has been folded.
  ///
  /// Dropped if the work was cancelled or the store closed meanwhile.
  public func send(_ action: Action) async {
    if let action = wrap(action) { await deliver(.action(action)) }
  }

  /// Sends an action and goes on as a feed: the work counts as ended for whoever waits for its
  /// input, and feeds of the same id that ran until now are cancelled.
  ///
  /// For work that first gives an answer and then what follows, such as a list and its changes. All
  /// of it happens at once: until then an older feed goes on, from then on this one.
  public func becomeFeed(sending action: Action) async {
    if let action = wrap(action) { await deliver(.becameFeed(action)) }
  }

  /// Waits on the store's clock.
  /// - Throws: `CancellationError` when the work is cancelled meanwhile.
  public func sleep(for duration: Duration) async throws {
    try await clock.sleep(for: duration)
  }
}

extension EffectContext {
  /// A context for work whose actions are turned into this one's; nil drops one.
  func pullback<Other: Sendable>(
    _ transform: @escaping @Sendable (Other) -> Action?
  ) -> EffectContext<Other> {
    EffectContext<Other>(clock: clock, deliver: deliver) { [wrap] in transform($0).flatMap(wrap) }
  }
}
