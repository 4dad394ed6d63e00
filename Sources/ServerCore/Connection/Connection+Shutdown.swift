// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import StatewireJSON
internal import StatewireProtocol

// The methods `shutdown` and `exit`, as in the Language Server Protocol.
extension Connection {
  /// The progress of a client with `shutdown` and `exit`.
  enum ShutdownProgress {
    case none
    /// The client has sent `shutdown`: only `exit` is accepted.
    case shutDown
    /// The client has sent `exit`: no message is carried out any more.
    case exited(afterShutdown: Bool)
  }

  /// True once the client has sent `exit`.
  public var hasExited: Bool {
    if case .exited = shutdownProgress { true } else { false }
  }

  /// True once the client has sent `exit` without `shutdown`.
  public var hasExitedEarly: Bool {
    if case .exited(afterShutdown: false) = shutdownProgress { true } else { false }
  }

  /// Refuses every method except `exit` after `shutdown`.
  ///
  /// - Throws: `RPCError` -32600.
  func checkNotShutDown(for method: JSONKey) throws(RPCError) {
    guard case .shutDown = shutdownProgress, !(method == Exit.method) else { return }
    throw RPCError(.invalidRequest, "after shutdown only exit is accepted")
  }

  /// Carries out `shutdown`.
  func shutdown() -> MethodResult {
    shutdownProgress = .shutDown
    // Later inputs must be refused, and the fast path would accept them.
    templates = RequestTemplates()
    return .null
  }

  /// Carries out `exit`: the connection drains, then closes.
  func exit() -> MethodResult {
    if case .shutDown = shutdownProgress {
      shutdownProgress = .exited(afterShutdown: true)
    } else {
      shutdownProgress = .exited(afterShutdown: false)
    }
    writer.awaitTurnEnd()
    advance(.unreadable)
    return .null
  }
}
