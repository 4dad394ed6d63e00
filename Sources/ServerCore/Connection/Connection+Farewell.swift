// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import StatewireJSON
internal import StatewireProtocol

// The end of a connection as clients of the Language Server Protocol ask for it.
extension Connection {
  /// How far a client has come with `shutdown` and `exit`.
  enum Farewell {
    case none
    case shutDown
    /// Nothing more is carried out.
    case exited(afterShutdown: Bool)
  }

  /// True once the client has sent `exit`.
  public var hasExited: Bool {
    if case .exited = farewell { true } else { false }
  }

  /// True once the client has sent `exit` without `shutdown`.
  public var hasExitedEarly: Bool {
    if case .exited(afterShutdown: false) = farewell { true } else { false }
  }

  /// Refuses everything but `exit` after `shutdown`.
  func checkNotShutDown(for method: JSONKey) throws(RPCError) {
    guard case .shutDown = farewell, !(method == Exit.method) else { return }
    throw RPCError(.invalidRequest, "after shutdown only exit is accepted")
  }

  /// `shutdown`
  func shutdown() -> MethodResult {
    farewell = .shutDown
    // Nothing of what follows is an input like the one before it.
    templates = RequestTemplates()
    return .null
  }

  /// `exit`
  func exit() -> MethodResult {
    if case .shutDown = farewell {
      farewell = .exited(afterShutdown: true)
    } else {
      farewell = .exited(afterShutdown: false)
    }
    writer.awaitTurnEnd()
    advance(.unreadable)
    return .null
  }
}
