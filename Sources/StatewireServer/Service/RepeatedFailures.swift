// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StateMachines

/// A logger for a failure that may occur many times in a second: it logs the first one immediately,
/// then at most one a minute.
final class RepeatedFailures: Sendable {
  private static let interval = Duration.seconds(60)

  private let logger: Logger
  private let prefix: String
  private let state = Lock(State())

  private struct State {
    /// The time of the last log line; nil: none yet.
    var last: ContinuousClock.Instant?
    /// The last failure, if it was not logged.
    var suppressed: Failure?
  }

  private struct Failure {
    let error: any Error
    let metadata: Logger.Metadata?
  }

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
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      if let last = state.last, last.duration(to: now) < Self.interval {
        state.suppressed = Failure(error: error, metadata: metadata)
        return false
      }
      state = State(last: now)
      return true
    }
    if isDue { write(Failure(error: error, metadata: metadata)) }
  }

  /// Logs the last failure, if it was not logged: its text has the final count of all of them.
  func end() {
    let suppressed = state.withLock { state in
      defer { state.suppressed = nil }
      return state.suppressed
    }
    if let suppressed { write(suppressed) }
  }

  private func write(_ failure: Failure) {
    logger.error("\(prefix)\(failure.error)", metadata: failure.metadata)
  }
}
