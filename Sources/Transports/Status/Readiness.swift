// SPDX-License-Identifier: Apache-2.0

/// The readiness of a server for new clients.
public enum Readiness: Sendable, Equatable {
  /// The server reads its journal and does not listen yet.
  case starting
  /// The server serves clients.
  case ready
  /// The server ends: it finishes requests, and gives sessions up to other nodes.
  case draining
  /// Sessions cannot be persisted, so clients wait.
  ///
  /// - Parameter reason: One line for the operator, without secrets.
  case withoutDatabase(reason: String)
  /// The lease of this node has expired: nothing is sent to clients until it is renewed.
  case leaseLapsed

  /// The readiness with its reason, one line for the operator.
  public var line: String {
    switch self {
    case .starting: "starting"
    case .ready: "ready"
    case .draining: "draining"
    case .withoutDatabase(let reason): "without database: \(reason)"
    case .leaseLapsed: "lease lapsed: the database does not renew it"
    }
  }
}
