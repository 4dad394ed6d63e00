// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Logging
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Who the peer is, where tokens are asked for.
extension Connection {
  /// How many wrong tokens a peer may show; after the last one it is not listened to any more.
  private static var maximumWrongTokens: Int { 3 }

  /// Whether the peer may use the methods that want a token.
  public var isAuthorised: Bool { settings.credentials == nil || identity != nil }

  /// Refuses what wants a token, as long as none was shown.
  func checkAuthorised(for method: JSONKey) throws(RPCError) {
    guard !isAuthorised, !(method == Initialize.method), !(method == Ping.method),
      !(method == Exit.method)
    else { return }
    throw RPCError(.unauthorised, "initialize with a token first")
  }

  /// Looks at the token of `initialize`; does nothing where none is asked for.
  ///
  /// A connection has one identity all its life, since its session belongs to that.
  func authorise(with token: String?) throws(RPCError) {
    guard let credentials = settings.credentials else { return }
    guard let token else {
      if identity != nil { return }
      throw RPCError(.unauthorised, "a token is needed")
    }
    guard wrongTokens < Self.maximumWrongTokens, let owner = credentials.identity(of: token) else {
      wrongTokens += 1
      if wrongTokens == Self.maximumWrongTokens {
        settings.logger.warning("a peer that has shown wrong tokens was closed")
      }
      if wrongTokens >= Self.maximumWrongTokens { stopListening() }
      throw RPCError(.unauthorised, "this is no token of this server")
    }
    guard identity == nil || identity == owner else {
      throw RPCError(.unauthorised, "this connection belongs to somebody else")
    }
    if identity == nil {
      guard output.admit(owner) else {
        stopListening()
        throw RPCError(
          limit: .connectionsPerIdentity, "there are as many connections as one name may have")
      }
      identity = owner
      writer.belong(to: owner.name, common.buffers.account(of: owner.name))
      settings.logger.debug("a peer has shown a token", metadata: ["identity": "\(owner)"])
    }
  }

  /// The tokens of the server have been replaced.
  func credentialsChanged() {
    guard let identity, settings.credentials?.knows(identity) == false else { return }
    refuse(RPCError(.unauthorised, "the tokens of this name were taken away"))
  }

  /// Tells the peer why it is not served any more, and closes; open answers become -32800.
  func refuse(_ error: RPCError) {
    guard !life.isOver, !life.isRefused else { return }
    if life.readsInput { writer.fail(error) }
    // What waits has not begun, and does not any more.
    backlog = []
    batchRest = nil
    stopListening()
  }

  private func stopListening() {
    advance(.refused)
    endWait()
  }
}
