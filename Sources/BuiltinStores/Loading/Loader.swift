// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
internal import StateMachines

/// A way to load a value, composed of sources and policies around them.
///
/// ```swift
/// let user = Loader.source(service, named: "user")
///   .retried(attempts: 3)
///   .timeout(after: .seconds(5))
///   .cached("user", for: .seconds(60), in: cache)
/// let store = LoadingStore(.all([user, .sequence([login, settings])]))
/// ```
///
/// After its task was cancelled, the outcome of a loader is ignored. It must still return soon,
/// because its caller may wait for it.
public struct Loader: Sendable {
  /// The debounce window of a loader, for a store that calls it.
  struct Window: Sendable {
    let interval: Duration
    let executeFirstImmediately: Bool
  }

  /// The access to a value that was loaded before and is cached.
  struct CachedValue: Sendable {
    /// Returns the value if it is cached and has not expired, and if no more bytes are joined for it
    /// than may be, which the number of bytes then counts.
    let fresh: @Sendable (any StoreClock, inout Int) -> LoadedValue?
    /// Removes the cached value.
    let forget: @Sendable () -> Void
  }

  /// The bytes of cached values that are joined on the event loop for one call.
  static var largestCachedBytes: Int { 256 << 10 }

  /// Returns the cached value of the whole loader; nil if a part is not cached, or if too much would
  /// have to be joined.
  func freshValue(_ clock: any StoreClock) -> LoadedValue? {
    var room = Self.largestCachedBytes
    return cached?.fresh(clock, &room)
  }

  /// Loads once, when the call may begin.
  let load: @Sendable (LoadContext) async -> LoadOutcome
  /// The cached value; nil if the loader does not cache.
  let cached: CachedValue?
  /// The debounce window; nil if calls are not postponed.
  let window: Window?

  init(
    cached: CachedValue? = nil, window: Window? = nil,
    load: @escaping @Sendable (LoadContext) async -> LoadOutcome
  ) {
    self.load = load
    self.cached = cached
    self.window = window
  }

  /// Creates a loader from a function.
  ///
  /// - Parameter body: Loads once. A decrease of its percent is not shown, and progress that it
  ///   reports after its end is dropped. Use `LoadContext.operation` for a part of it that hooks
  ///   should see or that a fault should fail.
  public init(_ body: @escaping @Sendable (LoadContext) async -> LoadOutcome) {
    self = .attempt(body: body)
  }

  /// Returns a loader whose percent starts at 0 in each call.
  static func attempt(
    cached: CachedValue? = nil, body: @escaping @Sendable (LoadContext) async -> LoadOutcome
  ) -> Loader {
    Loader(cached: cached) { context in
      let progress = CallProgress()
      defer { progress.end() }
      return await body(context.part(progress.filter))
    }
  }
}

// MARK: - Sources

extension Loader {
  /// Returns a loader that loads from a source.
  ///
  /// A source that ignores its cancellation does not delay the loader: its task is abandoned, and
  /// its progress and value are dropped.
  ///
  /// - Parameters:
  ///   - source: The source; it is used once for each call.
  ///   - name: The name of the operation for hooks, traces and injected faults.
  public static func source(_ source: any LoadingSource, named name: String = "source") -> Loader {
    Loader { context in
      await context.operation(name) {
        await context.abandonedTasks.abandonable { await source.outcome(context) }
          ?? .failure(.cancelled)
      }
    }
  }

  /// Returns a loader that plays states one after the other; the last one is the outcome. If the
  /// last one is `loading` or `idle`, the load never ends.
  ///
  /// As the root of a tree it shows all its states; inside other loaders only its progress.
  public static func mock(_ states: [LoaderConfiguration.MockState]) -> Loader {
    Loader(load: { context in
      let progress = CallProgress()
      let part = context.part(progress.filter)
      return await context.operation("mock") {
        for (index, played) in states.enumerated() {
          if played.after > .zero, (try? await context.clock.sleep(for: played.after)) == nil {
            return .failure(.cancelled)
          }
          switch played.state {
          case .loaded(let value) where index == states.count - 1: return .loaded(value)
          case .failure(let failure) where index == states.count - 1: return .failure(failure)
          case let state where context.isRoot: await context.show { progress.filter(state) }
          case .loading(let progress?): await part.report(progress)
          default: break
          }
        }
        // Sleeps on the store's clock, so that a test with a virtual clock sees that the task only
        // waits.
        while (try? await context.clock.sleep(for: .seconds(Seconds.maximum))) != nil {}
        return .failure(.cancelled)
      }
    })
  }
}

extension LoadingSource {
  /// Loads once and returns the outcome.
  fileprivate func outcome(_ context: LoadContext) async -> LoadOutcome {
    do {
      return .loaded(try await load { await context.report($0) })
    } catch let failure as LoadingFailure {
      return .failure(failure)
    } catch {
      return .failure(Text.sourceFailed.loadingFailure)
    }
  }
}
