// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Synchronization

/// A logger for a failure that may occur many times in a second: it logs the first one immediately,
/// then at most one a minute.
final class RepeatedFailures: Sendable {
  private static let interval = Duration.seconds(60)

  private let logger: Logger
  private let prefix: String
  private let start = ContinuousClock.now
  /// The time of the last log line, in seconds since the start; negative: none yet.
  private let last = Atomic(-1)

  /// Creates a logger of failures.
  ///
  /// - Parameters:
  ///   - logger: The log.
  ///   - prefix: The text before each failure.
  init(_ logger: Logger, _ prefix: String = "") {
    self.logger = logger
    self.prefix = prefix
  }

  /// Logs a failure as an error, unless another was logged in the last minute; on any thread.
  @Sendable
  func log(_ error: any Error) { log(error, metadata: nil) }

  /// Logs a failure as above, with metadata.
  func log(_ error: any Error, metadata: Logger.Metadata?) {
    let now = Int((ContinuousClock.now - start) / .seconds(1))
    let last = last.load(ordering: .relaxed)
    guard last < 0 || .seconds(now - last) >= Self.interval else { return }
    self.last.store(now, ordering: .relaxed)
    logger.error("\(prefix)\(error)", metadata: metadata)
  }
}
