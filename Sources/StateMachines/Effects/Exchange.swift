// SPDX-License-Identifier: Apache-2.0

extension Effect {
  /// Returns work that another party does, for example another process: it ends with one reply, and
  /// it has no task.
  ///
  /// The response to the input waits for the replies of its exchanges, and for the exchanges that
  /// the actions of the replies cause (`effect(after:in:)`). Actions are folded in the order in which
  /// the replies are delivered; see `ReplyQueue`.
  ///
  /// Exchanges begin in the order in which the store performs them. Cancelling the input does not end
  /// them.
  ///
  /// - Parameters:
  ///   - name: The name of the operation for hooks and traces.
  ///   - begin: Asks the other party. It is called on the thread of the store, so it must not block.
  public static func exchange(
    _ name: String, _ begin: @escaping @Sendable (ExchangeReply<Action>) -> Void
  ) -> Effect {
    Effect(step: .work(Work(name: name, exchange: begin) { _ in }))
  }

  /// Returns a feed of another party: it gives actions by `ExchangeReply.progress` until the store is
  /// closed. No input waits for it.
  ///
  /// - Parameters:
  ///   - id: The id of the feed; see `feed`.
  ///   - begin: Asks the other party, as for `exchange`.
  public static func exchanges(
    _ id: EffectID, _ begin: @escaping @Sendable (ExchangeReply<Action>) -> Void
  ) -> Effect {
    Effect(
      step: .work(
        Work(name: id.description, id: id, isFeed: true, exchange: begin) { _ in }))
  }
}

extension Effect {
  /// True if the effect does nothing but wait for actions of another party, so that a store that is not
  /// in memory misses nothing.
  var onlyListens: Bool {
    switch step {
    case .none: true
    case .several(let effects): effects.allSatisfy(\.onlyListens)
    case .work(let work): work.onlyListens
    case .action, .named, .cancel, .operation, .put, .deferred: false
    }
  }
}

extension Work {
  /// True for a feed of another party.
  var onlyListens: Bool { isFeed && exchange != nil }
}

/// The reply to an exchange: makes the message that ends it.
public final class ExchangeReply<Action: Sendable>: Sendable {
  /// The queue for the messages.
  public let queue: ReplyQueue
  /// The clock of the store.
  public let clock: any StoreClock
  /// The span of the exchange; nil if it is not traced.
  public let span: (any TraceSpan)?
  private let store: StoreNumber
  private let run: RunNumber
  /// Converts an action to the store's own type.
  private let wrap: @Sendable (Action) -> (any Sendable)?

  convenience init(
    queue: ReplyQueue, store: StoreNumber, run: RunNumber, clock: any StoreClock,
    span: (any TraceSpan)?
  ) {
    self.init(queue, store, run, clock, span) { $0 }
  }

  private init(
    _ queue: ReplyQueue, _ store: StoreNumber, _ run: RunNumber, _ clock: any StoreClock,
    _ span: (any TraceSpan)?, wrap: @escaping @Sendable (Action) -> (any Sendable)?
  ) {
    (self.queue, self.store, self.run, self.clock, self.wrap) = (queue, store, run, clock, wrap)
    self.span = span
  }

  /// Returns the message that ends the exchange.
  ///
  /// - Parameters:
  ///   - action: An action to fold first; nil for none.
  ///   - refusal: The reason to refuse the input, which becomes the response; nil to accept it.
  public func message(_ action: Action?, refusing refusal: InputRefusal? = nil) -> EffectMessage {
    EffectMessage(store: store, run: run, news: .replied(action.flatMap(wrap), refusal))
  }

  /// Returns a message with an action, which does not end the exchange.
  public func progress(_ action: Action) -> EffectMessage? {
    wrap(action).map { EffectMessage(store: store, run: run, news: .action($0)) }
  }

  /// Returns the reply for an exchange whose actions are transformed into actions of this one.
  func pullback<Other: Sendable>(
    by transform: EffectTransform<Other, Action>
  ) -> ExchangeReply<Other> {
    ExchangeReply<Other>(queue, store, run, clock, span) { [wrap] action in
      transform.action(action).flatMap(wrap)
    }
  }
}
