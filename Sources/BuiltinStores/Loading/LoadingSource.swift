// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// Where a loader gets its value from: an endpoint, a file, or code of one's own.
public protocol LoadingSource: Sendable {
  /// Loads the value once.
  ///
  /// - Parameter report: Takes the progress, as often as there is news; returns when it is folded.
  /// - Returns: The value.
  /// - Throws: `LoadingFailure`. Any other error counts as one too, with a text of our own; once
  ///   the task is cancelled, what is thrown does not matter, but it is thrown soon.
  func load(_ report: @escaping @Sendable (LoadingProgress) async -> Void) async throws
    -> LoadedValue
}
