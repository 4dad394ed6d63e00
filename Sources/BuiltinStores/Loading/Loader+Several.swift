// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StateMachines

extension Loader {
  /// Returns a loader that loads several values concurrently; its value is the array of the values,
  /// in the order of the loaders.
  ///
  /// The first failure is the outcome and stops the other loaders. An array that is larger, or
  /// nested deeper, than a value may be is a failure with the code `all.tooLarge`. The percent is
  /// that of `PartPercents`.
  public static func all(_ loaders: [Loader]) -> Loader {
    let parts = loaders.map(\.asPart)
    return .attempt(
      cached: cached(by: parts) { values, room in
        // The load joins larger values: it runs off the event loop, and finds the cached values
        // again.
        room -= values.reduce(0) { $0 + $1.text.count }
        return room >= 0 ? try? LoadedValue(array: values) : nil
      },
      body: { await loadAll(parts, $0) })
  }

  /// Returns a loader that loads values one after the other; its value is the last one.
  ///
  /// The first failure is the outcome. The percent is that of `PartPercents`.
  ///
  /// - Precondition: `loaders` is not empty.
  public static func sequence(_ loaders: [Loader]) -> Loader {
    precondition(!loaders.isEmpty, "a sequence needs at least one loader")
    let parts = loaders.map(\.asPart)
    return .attempt(
      cached: cached(by: parts) { values, _ in values.last },
      body: { context in
        let percents = PartPercents(parts.count)
        var last = LoadOutcome.failure(.cancelled)
        for (index, part) in parts.enumerated() {
          guard !Task.isCancelled else { return .failure(.cancelled) }
          last = await part.load(context.part { percents.progress(with: $0, of: index) })
          if last.isFailure { return last }
          percents.loaded(index)
        }
        return last
      })
  }

  /// Returns a cached value made of the cached values of all parts; nil if no part caches values.
  private static func cached(
    by parts: [Loader], _ value: @escaping @Sendable ([LoadedValue], inout Int) -> LoadedValue?
  ) -> CachedValue? {
    // With no parts at all the value exists without a load.
    guard parts.isEmpty || parts.contains(where: { $0.cached != nil }) else { return nil }
    return CachedValue(
      fresh: { clock, room in
        var values: [LoadedValue] = []
        for part in parts {
          guard let value = part.cached?.fresh(clock, &room) else { return nil }
          values.append(value)
        }
        return value(values, &room)
      },
      forget: { for part in parts { part.cached?.forget() } })
  }

  private static func loadAll(_ parts: [Loader], _ context: LoadContext) async -> LoadOutcome {
    let percents = PartPercents(parts.count)
    return await withTaskGroup(of: (Int, LoadOutcome).self) { group in
      for (index, part) in parts.enumerated() {
        let context = context.part { percents.progress(with: $0, of: index) }
        group.addTask {
          let outcome = await part.load(context)
          if !outcome.isFailure { percents.loaded(index) }
          return (index, outcome)
        }
      }
      var values: [Int: LoadedValue] = [:]
      var bytes = 0
      for await (index, outcome) in group {
        switch outcome {
        case .loaded(let value):
          values[index] = value
          bytes += value.text.count
          // Checked for each value and not only at the end: until then all values would stay in
          // memory.
          guard bytes <= LoadedValue.maximumBytes else {
            group.cancelAll()
            return .failure(.tooLargeTogether)
          }
        case .failure:
          group.cancelAll()
          return outcome
        }
      }
      do {
        return .loaded(try LoadedValue(array: parts.indices.compactMap { values[$0] }))
      } catch {
        return .failure(.tooLargeTogether)
      }
    }
  }
}

/// The percents of the parts of one load, and the percent of the whole.
///
/// The percent of the whole is unknown until a part reports one. From then on it is the mean of all
/// parts, rounded down: a loaded part counts as 100, a part whose percent is unknown as 0. It is at
/// most 99, because the outcome replaces the progress when the last part has loaded.
private final class PartPercents: Sendable {
  private let state: Lock<(percents: [Int], isKnown: Bool)>

  init(_ count: Int) { state = Lock((Array(repeating: 0, count: count), false)) }

  func loaded(_ part: Int) { state.withLock { $0.percents[part] = 100 } }

  /// Returns the progress of the whole when one part reports its progress.
  func progress(with progress: LoadingProgress, of part: Int) -> LoadingProgress {
    state.withLock { state in
      if let percent = progress.percent {
        state.percents[part] = percent
        state.isKnown = true
      }
      let mean = min(state.percents.reduce(0, +) / state.percents.count, 99)
      return LoadingProgress(percent: state.isKnown ? mean : nil, message: progress.message)
    }
  }
}
