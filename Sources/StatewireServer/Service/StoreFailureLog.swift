// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Sessions
internal import StateMachines

/// The log of errors of machines. One that each input repeats is logged once for each kind and
/// message, which names the id; others as `RepeatedFailures` are.
final class StoreFailureLog: Sendable {
  // Ids can contain texts of clients, so there is a bound.
  private static let maximumLines = 1000

  private let logger: Logger
  private let repeated: RepeatedFailures
  private let logged = Lock<Set<[String]>>([])

  init(_ logger: Logger) {
    self.logger = logger
    repeated = RepeatedFailures(logger)
  }

  /// Logs an error; on any thread.
  @Sendable
  func log(_ failure: StoreFailure) {
    var metadata: Logger.Metadata = ["store": "\(failure.store)", "kind": "\(failure.kind)"]
    metadata["session"] = failure.session.map { "\($0)" }
    metadata["request"] = failure.request.map { "\($0)" }
    guard failure.isPermanent else { return repeated.log(failure, metadata: metadata) }
    let isNew = logged.withLock { logged in
      logged.count < Self.maximumLines
        && logged.insert([failure.kind, failure.error.message]).inserted
    }
    if isNew { logger.error("\(failure)", metadata: metadata) }
  }
}
