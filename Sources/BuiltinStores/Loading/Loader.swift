// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
internal import StateMachines

/// A way to load a value, built of sources and the policies around them.
///
/// ```swift
/// let user = Loader.source(service, named: "user")
///   .retried(attempts: 3)
///   .timeout(after: .seconds(5))
///   .cached("user", for: .seconds(60), in: cache)
/// let store = LoadingStore(.all([user, .sequence([login, settings])]))
/// ```
///
/// Once its task is cancelled, what a loader gives does not matter: nobody hears it. It is given
/// soon, though, as somebody may wait for that.
public struct Loader: Sendable {
  /// Calls that come close together, for a store that calls the loader.
  struct Window: Sendable {
    let interval: Duration
    let executeFirstImmediately: Bool
  }

  /// What a loader may have without loading, because it was loaded before.
  struct Kept: Sendable {
    /// A value that is there without loading.
    let fresh: @Sendable (any StoreClock) -> LoadedValue?
    /// Drops what is kept.
    let forget: @Sendable () -> Void
  }

  /// Loads once, when the turn of the call has come.
  let load: @Sendable (LoadContext) async -> LoadOutcome
  /// What it keeps; nil where it keeps nothing.
  let kept: Kept?
  /// How calls are put off; the loader's own work begins when that is over.
  let window: Window?

  init(
    kept: Kept? = nil, window: Window? = nil,
    load: @escaping @Sendable (LoadContext) async -> LoadOutcome
  ) {
    self.load = load
    self.kept = kept
    self.window = window
  }

  /// A loader of code of one's own.
  ///
  /// - Parameter body: Loads once. Its percent is kept from falling, and what it reports after its
  ///   end is dropped. Work in it that somebody should see, or be able to let fail, is an
  ///   `operation` of the context.
  public init(_ body: @escaping @Sendable (LoadContext) async -> LoadOutcome) {
    self = .attempt(body: body)
  }

  /// A loader of which each call is one attempt, as far as its percent is concerned.
  static func attempt(
    kept: Kept? = nil, body: @escaping @Sendable (LoadContext) async -> LoadOutcome
  ) -> Loader {
    Loader(kept: kept) { context in
      let progress = CallProgress()
      defer { progress.end() }
      return await body(context.part(progress.filter))
    }
  }
}

// MARK: - Sources

extension Loader {
  /// Loads from a source.
  ///
  /// A source that does not hear that it was cancelled holds nobody up: it is left, and what it
  /// still says is dropped.
  ///
  /// - Parameters:
  ///   - source: What is asked each time.
  ///   - name: What hooks, traces and injected faults call it.
  public static func source(_ source: any LoadingSource, named name: String = "source") -> Loader {
    Loader { context in
      await context.operation(name) {
        await context.strays.leavable { await source.outcome(context) } ?? .failure(.cancelled)
      }
    }
  }

  /// Plays states one after the other, the last of which is the outcome; a mock that ends with
  /// `loading` or `idle` never ends.
  ///
  /// Alone in a store it shows all its states as they are; inside of others, its progress.
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
        // On the clock, so that whoever moves it knows that nothing else is to be waited for.
        while (try? await context.clock.sleep(for: .seconds(Seconds.maximum))) != nil {}
        return .failure(.cancelled)
      }
    })
  }
}

extension LoadingSource {
  /// How loading once ends.
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
