// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import TestSupport

/// The result of a load, with its reports.
struct Loaded: Equatable, Sendable {
  /// The percents in the order of their reports; nil for a report without one.
  var percents: [Int?]
  /// The value as text; nil if it failed.
  var value: String?
  /// The code of the failure.
  var failure: String?
}

extension LoadingSource {
  /// Loads once; each report waits for `reported`.
  func loaded(
    _ reported: @escaping @Sendable (Int?) async -> Void = { _ in }
  ) async throws -> Loaded {
    let percents = Record<Int?>()
    do {
      let value = try await load { progress in
        percents.add(progress.percent)
        await reported(progress.percent)
      }
      return Loaded(percents: percents.all, value: value.description)
    } catch let failure as LoadingFailure {
      return Loaded(percents: percents.all, failure: failure.code)
    }
  }
}
