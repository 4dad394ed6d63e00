// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

extension Loader {
  /// Several at once; the value is the array of theirs, in their order.
  ///
  /// The first failure is the outcome and stops the others; so is an array that would be larger, or nest
  /// deeper, than a value may. The percent is the mean of what is
  /// known of theirs.
  public static func all(_ loaders: [Loader]) -> Loader {
    let parts = loaders.map(\.asPart)
    return .attempt(
      kept: kept(by: parts) { try? LoadedValue(array: $0) },
      body: { await loadAll(parts, $0) })
  }

  /// One after the other, each once the one before has loaded; the value is the last one's.
  ///
  /// The first failure is the outcome. The percent is that of the one that loads.
  ///
  /// - Precondition: there is at least one.
  public static func sequence(_ loaders: [Loader]) -> Loader {
    precondition(!loaders.isEmpty, "an empty sequence has no value")
    let parts = loaders.map(\.asPart)
    return .attempt(
      kept: kept(by: parts, \.last),
      body: { context in
        var last = LoadOutcome.failure(.cancelled)
        for part in parts {
          guard !Task.isCancelled else { return .failure(.cancelled) }
          last = await part.load(context.part())
          if last.isFailure { return last }
        }
        return last
      })
  }

  /// What parts keep: a value made of theirs, where all have one; nil where none keeps any.
  private static func kept(
    by parts: [Loader], _ value: @escaping @Sendable ([LoadedValue]) -> LoadedValue?
  ) -> Kept? {
    // None at all have their value without loading.
    guard parts.isEmpty || parts.contains(where: { $0.kept != nil }) else { return nil }
    return Kept(
      fresh: { clock in
        let values = parts.compactMap { $0.kept?.fresh(clock) }
        return values.count == parts.count ? value(values) : nil
      },
      forget: { for part in parts { part.kept?.forget() } })
  }

  private static func loadAll(_ parts: [Loader], _ context: LoadContext) async -> LoadOutcome {
    let percents = KnownPercents(parts.count)
    return await withTaskGroup(of: (Int, LoadOutcome).self) { group in
      for (index, part) in parts.enumerated() {
        let context = context.part { percents.mean(with: $0, of: index) }
        group.addTask { (index, await part.load(context)) }
      }
      var values: [Int: LoadedValue] = [:]
      for await (index, outcome) in group {
        switch outcome {
        case .loaded(let value): values[index] = value
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

/// How far the parts of a load have come, as far as they say.
private final class KnownPercents: Sendable {
  private let percents: Lock<[Int?]>

  init(_ count: Int) { percents = Lock(Array(repeating: nil, count: count)) }

  /// The progress of the whole when one part has news.
  func mean(with progress: LoadingProgress, of part: Int) -> LoadingProgress {
    percents.withLock { percents in
      if let percent = progress.percent { percents[part] = percent }
      let known = percents.compactMap(\.self)
      let mean = known.isEmpty ? nil : known.reduce(0, +) / known.count
      return LoadingProgress(percent: mean, message: progress.message)
    }
  }
}
