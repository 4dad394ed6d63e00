// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

extension Loader {
  /// Returns a loader that loads again after a failure. Only the failure of the last attempt is
  /// shown.
  ///
  /// While it waits, the progress is "Retrying… (attempt 2 of 3)", until there is other progress.
  /// Each call begins with the first attempt.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts in total.
  ///   - backoff: The waits between attempts.
  public func retried(attempts: Int, backoff: Backoff = .exponential()) -> Loader {
    passing { load, context in
      await context.clock.retry(attempts: attempts, backoff: backoff, when: \.isFailure) { next in
        await context.report(LoadingProgress(message: Text.retrying(next, of: attempts)))
      } _: { _ in
        await load(context)
      }
    }
  }

  /// Returns a loader that fails with the code `timeout` when loading takes longer than `limit`. A
  /// value that is loaded later is dropped.
  public func timeout(after limit: Duration) -> Loader {
    passing { load, context in
      await context.clock.timeout(after: limit) { await load(context) }
        ?? .failure(Text.requestTimedOut.loadingFailure)
    }
  }

  /// Returns a loader that caches a loaded value. A cached value is loaded immediately. Failures
  /// are not cached.
  ///
  /// - Parameters:
  ///   - key: The key of the value in the cache.
  ///   - time: The time for which a value is cached.
  ///   - cache: The cache; other loaders may use the same one.
  public func cached(_ key: String, for time: Duration, in cache: LoaderCache) -> Loader {
    let inner = asPart
    let key = ByteString(key)
    let fresh: @Sendable (any StoreClock, inout Int) -> LoadedValue? = {
      clock, room in
      cache.values.value(for: key, now: clock.uptime) ?? inner.cached?.fresh(clock, &room)
    }
    return Loader(
      cached: CachedValue(
        fresh: fresh,
        forget: {
          cache.values.remove(key)
          inner.cached?.forget()
        }),
      load: { context in
        var room = Self.largestCachedBytes
        if let value = fresh(context.clock, &room) { return .loaded(value) }
        let outcome = await inner.load(context.part())
        if case .loaded(let value) = outcome {
          cache.values.insert(value, for: key, keeping: time, now: context.clock.uptime)
        }
        return outcome
      })
  }

  /// Returns a loader that first waits for a permit of a semaphore.
  public func limited(to permits: AsyncSemaphore) -> Loader { limited { permits } }

  /// Returns a loader that first waits for a permit; the semaphore is looked up at each call.
  func limited(_ permits: @escaping @Sendable () -> AsyncSemaphore) -> Loader {
    passing { load, context in
      await permits().withPermit { await load(context) } ?? .failure(.cancelled)
    }
  }

  /// Returns a loader that postpones calls until no call has come for an interval.
  ///
  /// If a store calls the loader directly, each call opens a window. The shown state and a running
  /// load stay as they are until the window ends. Inside another loader each call is delayed.
  ///
  /// - Parameters:
  ///   - interval: The time without a call.
  ///   - executeFirstImmediately: True to load immediately for a call that comes while no window is
  ///     open; only the calls that follow within the interval wait.
  public func debounced(
    for interval: Duration = LoaderConfiguration.debounceInterval,
    executeFirstImmediately: Bool = false
  ) -> Loader {
    let inner = asPart
    return Loader(
      cached: inner.cached,
      window: Window(interval: interval, executeFirstImmediately: executeFirstImmediately),
      load: { await inner.load($0.part()) })
  }

  /// Returns the same loader, whose values share memory with equal values that are already held.
  func sharing(_ values: SharedLoadedValues) -> Loader {
    Loader(
      cached: cached.map { cached in
        CachedValue(fresh: { cached.fresh($0, &$1).map(values.shared) }, forget: cached.forget)
      },
      window: window,
      load: { [load] context in
        let outcome = await load(context)
        guard case .loaded(let value) = outcome else { return outcome }
        return .loaded(values.shared(value))
      })
  }

  /// Returns a loader that calls `body` around the load of this one; a cached value of this one is
  /// used without `body`.
  private func passing(
    _ body:
      @escaping @Sendable (
        _ load: @escaping @Sendable (LoadContext) async -> LoadOutcome, LoadContext
      ) async -> LoadOutcome
  ) -> Loader {
    let inner = asPart
    return Loader(
      cached: inner.cached,
      load: { context in
        if let value = inner.freshValue(context.clock) { return .loaded(value) }
        return await body(inner.load, context.part())
      })
  }

  /// The loader for use inside other loaders, which do not open windows: it delays each call
  /// itself.
  var asPart: Loader {
    guard let window else { return self }
    let calls = DelayedCalls(window)
    return Loader(
      // A cached value must not come before the delay of its call.
      cached: cached.map { CachedValue(fresh: { _, _ in nil }, forget: $0.forget) },
      load: { [load] context in
        let wait = calls.next(at: context.clock.uptime)
        if wait > .zero, (try? await context.clock.sleep(for: wait)) == nil {
          return .failure(.cancelled)
        }
        return await load(context)
      })
  }
}

/// The times at which calls of a debounced loader inside another loader may begin.
private final class DelayedCalls: Sendable {
  private let window: Loader.Window
  private let open = Lock(Duration?.none)

  init(_ window: Loader.Window) { self.window = window }

  /// Returns the delay of a call that comes now.
  func next(at now: Duration) -> Duration {
    open.withLock { end in
      let isFirst = end.map { $0 <= now } ?? true
      end = now + window.interval
      return window.executeFirstImmediately && isFirst ? .zero : window.interval
    }
  }
}
