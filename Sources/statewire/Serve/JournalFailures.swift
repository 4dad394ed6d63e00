// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Tells the operator that sessions cannot be written down: at once, and then once a minute, however
/// often it happens.
final class JournalFailures: Sendable {
  private static let interval = Duration.seconds(60)

  private let logger: Logger
  private let start = ContinuousClock.now
  /// When it was told last, in seconds since the start; negative if it never was.
  private let last = Atomic(-1)

  init(_ logger: Logger) { self.logger = logger }

  @Sendable
  func tell(_ error: any Error) {
    let now = Int((ContinuousClock.now - start) / .seconds(1))
    let last = last.load(ordering: .relaxed)
    guard last < 0 || .seconds(now - last) >= Self.interval else { return }
    self.last.store(now, ordering: .relaxed)
    logger.error("sessions cannot be written down; their frontends are let go: \(error)")
  }
}
