// SPDX-License-Identifier: Apache-2.0

/// The way in which an effect is postponed.
enum Delay: Sendable {
  /// By a fixed time.
  case after(Duration)
  /// Until no newer effect has come for some time; the window is the wait.
  case debounced(window: EffectID, Duration, firstImmediately: Bool)
  /// While the window of an earlier effect is open.
  case throttled(window: EffectID, Duration, Throttling)
}

/// The rule that selects the effect to perform at the end of a window, among the effects that came
/// while the window was open.
public enum Throttling: Sendable {
  /// No effect: only the first one, which opened the window, is performed.
  case first
  /// The newest effect. It opens a new window when it is performed.
  case latest
}

extension Effect {
  /// Returns an effect that is performed after a wait.
  ///
  /// The input is not settled during the wait. An id that the whole effect gets, by `cancellable`
  /// or `latest`, also cancels the wait.
  public static func after(_ wait: Duration, _ effect: Effect) -> Effect {
    Effect(step: .put(off: .after(wait), .wait(wait), effect))
  }

  /// Returns the same effect, performed when no newer effect with this id has come for some time.
  ///
  /// A newer effect replaces one that waits. An effect that has begun continues. `.cancel(id)` ends
  /// the wait.
  ///
  /// - Parameters:
  ///   - id: The id that related effects share.
  ///   - window: The time without a newer effect.
  ///   - firstImmediately: True to perform an effect immediately that comes while no window is
  ///     open; it then opens a window for later effects.
  public func debounced(
    _ id: EffectID, for window: Duration, firstImmediately: Bool = false
  ) -> Effect {
    Effect(
      step: .put(
        off: .debounced(window: id, window, firstImmediately: firstImmediately), .wait(window), self
      ))
  }

  /// Returns the same effect, performed immediately. It opens a window; while the window is open,
  /// other effects with this id wait for its end or are dropped.
  ///
  /// `.cancel(id)` closes the window and drops the effect that waits for its end.
  ///
  /// - Parameters:
  ///   - id: The id that related effects share.
  ///   - window: The time for which the window is open.
  ///   - throttling: The effect to perform at the end of the window.
  public func throttled(
    _ id: EffectID, for window: Duration, keeping throttling: Throttling
  ) -> Effect {
    Effect(step: .put(off: .throttled(window: id, window, throttling), .wait(window), self))
  }

  /// Returns a feed that gives an action after each interval; the first action comes after one
  /// interval.
  ///
  /// - Parameters:
  ///   - id: The id of the feed; see `feed`.
  ///   - interval: The time between two actions; greater than zero.
  ///   - action: Makes the action.
  public static func ticks(
    _ id: EffectID, every interval: Duration, _ action: @escaping @Sendable () -> Action
  ) -> Effect {
    precondition(interval > .zero, "ticks need an interval greater than zero")
    let work = Work<Action>(
      name: id.description, id: id, isFeed: true, needsOnlyClock: true
    ) { context in
      while (try? await context.sleep(for: interval)) != nil { await context.send(action()) }
    }
    return Effect(step: .work(work))
  }

  /// Returns a feed of the elements of an external sequence, such as a change stream, notifications
  /// or another store.
  ///
  /// - Parameters:
  ///   - id: The id of the feed; see `feed`.
  ///   - source: The sequence. It is read until it ends or the store closes.
  ///   - action: Returns the action for an element; nil if there is none.
  public static func merge<Source: AsyncSequence & Sendable>(
    _ id: EffectID, _ source: Source,
    _ action: @escaping @Sendable (Source.Element) -> Action?
  ) -> Effect where Source.Failure == Never, Source.Element: Sendable {
    .feed(id) { context in
      for await element in source {
        if let action = action(element) { await context.send(action) }
      }
    }
  }
}

extension Work {
  /// A wait on the store's clock.
  static func wait(_ duration: Duration) -> Work {
    Work(name: "wait") { context in try? await context.sleep(for: duration) }
  }
}
