// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Synchronization

/// Logs a failure that can happen many times in a second: immediately, and then once a minute.
final class RepeatedFailures: Sendable {
  private static let interval = Duration.seconds(60)

  private let logger: Logger
  private let prefix: String
  private let start = ContinuousClock.now
  /// When it was logged last, in seconds since the start; negative if it never was.
  private let last = Atomic(-1)

  /// - Parameter prefix: What each line begins with.
  init(_ logger: Logger, _ prefix: String = "") {
    self.logger = logger
    self.prefix = prefix
  }

  @Sendable
  func log(_ error: any Error) {
    let now = Int((ContinuousClock.now - start) / .seconds(1))
    let last = last.load(ordering: .relaxed)
    guard last < 0 || .seconds(now - last) >= Self.interval else { return }
    self.last.store(now, ordering: .relaxed)
    logger.error("\(prefix)\(error)")
  }
}
