// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

extension Loader {
  /// Loads again after a failure; failures before the last one are not shown.
  ///
  /// While it waits, the progress is "Retrying… (attempt 2 of 3)", which stays until there is other
  /// progress. Each call counts from the beginning.
  ///
  /// - Parameters:
  ///   - attempts: How often in all.
  ///   - backoff: How long to wait between attempts.
  public func retried(attempts: Int, backoff: Backoff = .exponential()) -> Loader {
    passing { load, context in
      await context.clock.retry(attempts: attempts, backoff: backoff, when: \.isFailure) { next in
        await context.report(LoadingProgress(message: Text.retrying(next, of: attempts)))
      } _: { _ in
        await load(context)
      }
    }
  }

  /// Fails when loading takes too long; what is loaded afterwards is dropped.
  public func timeout(after limit: Duration) -> Loader {
    passing { load, context in
      await context.clock.timeout(after: limit) { await load(context) }
        ?? .failure(Text.requestTimedOut.loadingFailure)
    }
  }

  /// Keeps a loaded value for a time; a value that is there is loaded at once. Failures are not
  /// kept.
  ///
  /// - Parameters:
  ///   - key: What it is kept under.
  ///   - time: How long.
  ///   - cache: Where it is kept, with those of other loaders.
  public func cached(_ key: String, for time: Duration, in cache: LoaderCache) -> Loader {
    let inner = asPart
    let key = ByteString(key)
    let fresh: @Sendable (any StoreClock) -> LoadedValue? = { clock in
      cache.values.value(for: key, now: clock.uptime) ?? inner.kept?.fresh(clock)
    }
    return Loader(
      kept: Kept(
        fresh: fresh,
        forget: {
          cache.values.remove(key)
          inner.kept?.forget()
        }),
      load: { context in
        if let value = fresh(context.clock) { return .loaded(value) }
        let outcome = await inner.load(context.part())
        if case .loaded(let value) = outcome {
          cache.values.insert(value, for: key, keeping: time, now: context.clock.uptime)
        }
        return outcome
      })
  }

  /// Waits for its turn where others load under the same permits.
  public func limited(to permits: AsyncSemaphore) -> Loader { limited { permits } }

  /// Waits for its turn under permits that are looked up with each call.
  func limited(_ permits: @escaping @Sendable () -> AsyncSemaphore) -> Loader {
    passing { load, context in
      await permits().withPermit { await load(context) } ?? .failure(.cancelled)
    }
  }

  /// Puts off calls until none has come for an interval.
  ///
  /// For a store that calls it, a window opens with each call and leaves what is shown, and a load
  /// that runs, as they are until it ends. Inside of others, each call is delayed.
  ///
  /// - Parameters:
  ///   - interval: How long no call may come.
  ///   - executeFirstImmediately: Whether a call that comes while no window is open goes at once,
  ///     and only those that follow it closely wait.
  public func debounced(
    for interval: Duration = LoaderConfiguration.debounceInterval,
    executeFirstImmediately: Bool = false
  ) -> Loader {
    let inner = asPart
    return Loader(
      kept: inner.kept,
      window: Window(interval: interval, executeFirstImmediately: executeFirstImmediately),
      load: { await inner.load($0.part()) })
  }

  /// The same loader, whose values are one in memory with equal ones.
  func sharing(_ values: SharedLoadedValues) -> Loader {
    Loader(
      kept: kept.map { kept in
        Kept(fresh: { kept.fresh($0).map(values.shared) }, forget: kept.forget)
      },
      window: window,
      load: { [load] context in
        let outcome = await load(context)
        guard case .loaded(let value) = outcome else { return outcome }
        return .loaded(values.shared(value))
      })
  }

  /// The same loader with a way to load around its own; what is fresh stays so.
  private func passing(
    _ body:
      @escaping @Sendable (
        _ load: @escaping @Sendable (LoadContext) async -> LoadOutcome, LoadContext
      ) async -> LoadOutcome
  ) -> Loader {
    let inner = asPart
    return Loader(
      kept: inner.kept,
      load: { context in
        if let value = inner.kept?.fresh(context.clock) { return .loaded(value) }
        return await body(inner.load, context.part())
      })
  }

  /// The loader as a part of others, who know nothing of calls: it delays each of them itself.
  var asPart: Loader {
    guard let window else { return self }
    let calls = DelayedCalls(window)
    return Loader(
      // Even a value that is there comes when the turn of its call has.
      kept: kept.map { Kept(fresh: { _ in nil }, forget: $0.forget) },
      load: { [load] context in
        let wait = calls.next(at: context.clock.uptime)
        if wait > .zero, (try? await context.clock.sleep(for: wait)) == nil {
          return .failure(.cancelled)
        }
        return await load(context)
      })
  }
}

/// When the calls of a loader may begin that is debounced inside of others.
private final class DelayedCalls: Sendable {
  private let window: Loader.Window
  private let open = Lock(Duration?.none)

  init(_ window: Loader.Window) { self.window = window }

  /// How long a call has to wait that comes now.
  func next(at now: Duration) -> Duration {
    open.withLock { end in
      let isFirst = end.map { $0 <= now } ?? true
      end = now + window.interval
      return window.executeFirstImmediately && isFirst ? .zero : window.interval
    }
  }
}
