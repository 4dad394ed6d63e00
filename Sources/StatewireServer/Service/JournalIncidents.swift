// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Transports

/// Incidents in which sessions cannot be persisted: each is logged once when it begins and once when
/// it is over, however many commits fail, and the server is not ready meanwhile.
final class JournalIncidents: Sendable {
  private let status: ServerStatus
  private let logger: Logger

  /// Creates the incidents of a server.
  ///
  /// - Parameters:
  ///   - status: The status of the server.
  ///   - logger: The log.
  init(_ status: ServerStatus, _ logger: Logger) { (self.status, self.logger) = (status, logger) }

  /// Logs a failed commit and makes the server not ready; on any thread.
  @Sendable
  func failed(_ error: any Error) {
    guard status.set(.commits, "\(error)") else { return }
    logger.error("sessions cannot be persisted, and their clients are disconnected: \(error)")
  }

  /// Logs that the journal has all entries again, and makes the server ready; on any thread.
  @Sendable
  func recovered() {
    if status.set(.commits, nil) { logger.notice("sessions are persisted again") }
  }
}
