// SPDX-License-Identifier: Apache-2.0

/// How an effect is put off.
enum Delay: Sendable {
  /// For some time.
  case after(Duration)
  /// Until no newer one has come for some time; the window is the wait.
  case debounced(window: EffectID, Duration, firstAtOnce: Bool)
  /// While the window of an earlier one is open.
  case throttled(window: EffectID, Duration, Throttling)
}

/// Which of the effects that come while a window is open is performed at its end.
public enum Throttling: Sendable {
  /// None: the first one, which opened the window, is enough.
  case first
  /// The newest; it opens a window of its own then.
  case latest
}

extension Effect {
  /// An effect that is performed after a wait.
  ///
  /// Its input counts as running meanwhile. A name that is given to the whole, by `cancellable` or
  /// `latest`, ends the wait as well.
  public static func after(_ wait: Duration, _ effect: Effect) -> Effect {
    Effect(step: .put(off: .after(wait), .wait(wait), effect))
  }

  /// The same effect, performed once nothing newer with this id has come for a while.
  ///
  /// A newer one replaces one that waits; one that has begun is left alone. `.cancel(id)` ends the
  /// wait.
  ///
  /// - Parameters:
  ///   - id: Which effects belong together.
  ///   - window: How long nothing newer may come.
  ///   - firstAtOnce: Whether one that comes while no window is open is performed at once and only
  ///     opens a window for those after it.
  public func debounced(
    _ id: EffectID, for window: Duration, firstAtOnce: Bool = false
  ) -> Effect {
    Effect(
      step: .put(
        off: .debounced(window: id, window, firstAtOnce: firstAtOnce), .wait(window), self))
  }

  /// The same effect, performed at once, which keeps others with this id waiting for a while.
  ///
  /// `.cancel(id)` closes the window and drops what waits for its end.
  ///
  /// - Parameters:
  ///   - id: Which effects belong together.
  ///   - window: How long others have to wait.
  ///   - throttling: What becomes of those.
  public func throttled(
    _ id: EffectID, for window: Duration, keeping throttling: Throttling
  ) -> Effect {
    Effect(step: .put(off: .throttled(window: id, window, throttling), .wait(window), self))
  }

  /// A feed that gives an action each time an interval has passed, the first one after one
  /// interval.
  ///
  /// - Parameters:
  ///   - id: The feed's name; one that runs already goes on.
  ///   - interval: How long to wait each time; more than nothing.
  ///   - action: Makes the action.
  public static func ticks(
    _ id: EffectID, every interval: Duration, _ action: @escaping @Sendable () -> Action
  ) -> Effect {
    precondition(interval > .zero, "ticks that never wait would never end")
    return .feed(id) { context in
      while (try? await context.sleep(for: interval)) != nil { await context.send(action()) }
    }
  }

  /// A feed of what comes from somewhere else: a change stream, notifications, another store.
  ///
  /// - Parameters:
  ///   - id: The feed's name; one that runs already goes on.
  ///   - source: Read until it ends or the store closes.
  ///   - action: What an element means to this machine; nil is nothing.
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
