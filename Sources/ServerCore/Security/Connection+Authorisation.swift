// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Logging
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Authentication of the client, on servers that require a token.
extension Connection {
  /// Number of wrong tokens after which the client is refused and its connection closed.
  private static var maximumWrongTokens: UInt8 { 3 }

  /// True if the client may call methods that require a token.
  public var isAuthorised: Bool { settings.credentials == nil || identity != nil }

  /// Refuses methods that require a token, until the client has sent a valid one.
  ///
  /// - Throws: `RPCError` -32016.
  func checkAuthorised(for method: JSONKey) throws(RPCError) {
    guard !isAuthorised, !(method == Initialize.method), !(method == Ping.method),
      !(method == Exit.method), !(method == NodeRelay.method)
    else { return }
    throw RPCError(
      .unauthorised, "this method requires a token; call initialize with a token first")
  }

  /// Checks the token of `initialize`; does nothing on a server without tokens.
  ///
  /// A connection never changes its identity, because its session belongs to that identity.
  ///
  /// - Throws: `RPCError` -32016, or -32015 if the identity has too many connections.
  func authorise(with token: String?, _ request: Request) throws(RPCError) {
    guard let credentials = settings.credentials else { return }
    guard let token else {
      if identity != nil { return }
      throw RPCError(
        .unauthorised, "this server requires a token; pass it in the parameters of initialize")
    }
    guard wrongTokens < Self.maximumWrongTokens, let owner = credentials.identity(of: token) else {
      // A batch may have any number of tokens.
      if wrongTokens < Self.maximumWrongTokens {
        wrongTokens += 1
        if wrongTokens == Self.maximumWrongTokens {
          settings.logger.warning(
            "closing a client that has sent too many wrong tokens",
            metadata: logMetadata(of: request))
          stopListening()
        }
      }
      throw RPCError(.unauthorised, "the server does not know this token")
    }
    guard identity == nil || identity == owner else {
      throw RPCError(
        .unauthorised, "this connection belongs to another identity; open a new connection")
    }
    if identity == nil {
      guard output.admit(owner) else {
        stopListening()
        throw RPCError(
          limit: .connectionsPerIdentity, "this identity has the maximum number of connections")
      }
      writer.belong(to: owner.name, common.buffers.account(of: owner.name))
      settings.logger.debug("authenticated a client", metadata: logMetadata(of: request))
    }
  }

  /// Closes the connection if the identity of its client no longer has a token.
  func credentialsChanged(_ shard: isolated Shard) {
    guard let identity, settings.credentials?.knows(identity) == false else { return }
    refuse(RPCError(.unauthorised, "the tokens of this identity were revoked"), shard)
  }

  /// Sends an error with the id null, then closes; open requests get the error -32800. The client leaves its
  /// session, and receives nothing more of it.
  func refuse(_ error: RPCError, _ shard: isolated Shard) {
    guard !life.isOver, !life.isRefused else { return }
    dropLink()
    // A state that waits would be written after the error.
    participant.unsubscribeAll()
    if life.readsInput { writer.fail(error) }
    // Messages that wait have not started, and are dropped.
    backlog = []
    let rest = waitingBatch
    waitingBatch = nil
    // An offloaded request would find no session at its end.
    offloaded?.endsWithTime = true
    stopListening()
    cancelOverdue()
    if let rest { writer.finish(rest.batch) }
    participant.session.leave(participant, isolation: shard)
  }

  func stopListening() {
    advance(.refused)
    endWait()
  }
}
