// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import StateMachines

/// The failures of the database, each reported once until it responds again.
final class Incidents: Sendable {
  private let report: @Sendable (String) -> Void
  private let isOpen = Lock(false)

  init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

  /// Ends the incident, because the database has carried out an operation.
  func end() { isOpen.withLock { $0 = false } }

  /// Reports a failure, unless an incident lasts.
  ///
  /// - Parameters:
  ///   - what: What could not be done, without stored data.
  ///   - error: The cause.
  func add(_ what: String, _ error: any Error) {
    let isFirst = isOpen.withLock { isOpen in
      defer { isOpen = true }
      return !isOpen
    }
    if isFirst { report("\(what): \(error)") }
  }
}
