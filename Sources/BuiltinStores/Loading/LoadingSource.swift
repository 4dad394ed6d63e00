// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

/// The source of a loader's value: an endpoint, a file, or the code of a program.
public protocol LoadingSource: Sendable {
  /// Loads the value once.
  ///
  /// - Parameter report: Takes the progress, at any time; returns when it is folded.
  /// - Returns: The value.
  /// - Throws: `LoadingFailure`. Any other error becomes a failure with the code `source.failed`.
  ///   After the task was cancelled the error is ignored, but the function must still return soon.
  func load(_ report: @escaping @Sendable (LoadingProgress) async -> Void) async throws
    -> LoadedValue
}
