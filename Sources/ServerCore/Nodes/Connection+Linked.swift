// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Logging
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// The connection on the node of the session, to which another node relays a client. It is an
// ordinary connection after its second message.
extension Connection {
  /// Carries out `node/relay`, which introduces the client that the node relays.
  ///
  /// The response shows that the secret was right. `node/attach` follows with the client's request.
  ///
  /// - Throws: `RPCError`.
  func serveNode(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    guard let nodes = settings.nodes else {
      throw RPCError(.methodNotFound, "there is no such method")
    }
    let params: NodeRelay.Params = try request.decode(limits: settings.limits)
    // Before anything else of the request is looked at.
    guard nodes.secret.isSame(as: params.secret) else {
      settings.logger.warning(
        "refused a node: its --node-secret-file differs; use the same secret on all nodes",
        metadata: logMetadata(of: request))
      stopListening()
      throw RPCError(.unauthorised, "node secret mismatch")
    }
    guard messageCount == 1, request.batch == nil, request.id != nil, !writer.framing.isLines,
      identity == nil
    else {
      throw RPCError(.invalidRequest, "node/relay must be the first message")
    }
    nodeClient = NodeClient(evictionEnd: settings.now() + NodeRelay.evictionTime)
    output.servesNode()
    reply(to: request) { _ in }
    do throws(RPCError) { try admit(params) } catch { report(RelayRefusal(error: error)) }
  }

  /// Carries out `node/attach`: the request of the client.
  ///
  /// The result follows as a `NodeControl`, and after it the response for the client.
  ///
  /// - Throws: `RPCError`.
  func attachRelayed(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    guard messageCount == 2, request.batch == nil, !life.isDraining else {
      throw RPCError(.invalidRequest, "node/attach must be the second message")
    }
    let params: NodeRelay.Attach = try request.decode(limits: settings.limits)
    if !params.evicts { nodeClient = NodeClient(evictionEnd: settings.now()) }
    let state = RelayState()
    state.outcome = { [unowned self] refusal in report(refusal) }
    relayState = state
    let text = Array(params.request.utf8)
    text.withUnsafeBytes { dispatch($0, batch: nil, shard) }
  }

  /// True if the client may evict another one with its name.
  ///
  /// A request to attach may arrive late, because it waited for the database or was lost between
  /// nodes. A client that has gone meanwhile must not evict its own next connection. The clocks of
  /// nodes differ, so the time is that since this node's response to `node/relay`, which the other
  /// node got before it sent the request.
  var evicts: Bool {
    guard settings.nodes != nil else { return true }
    return life.hasInput && nodeClient.map { settings.now() < $0.evictionEnd } ?? true
  }

  /// Gives the connection the identity of the client.
  private func admit(_ params: NodeRelay.Params) throws(RPCError) {
    if let left = params.inputs, let inputs { inputs.state.left = min(left, inputs.state.left) }
    guard let name = params.identity else {
      guard settings.credentials == nil else {
        throw RPCError(.unauthorised, "the node of the session requires a token")
      }
      return
    }
    let owner = Identity(name)
    guard output.admit(owner) else {
      throw RPCError(
        limit: .connectionsPerIdentity, "this identity has the maximum number of connections")
    }
    writer.belong(to: owner.name, common.buffers.account(of: owner.name))
  }

  /// Reports the result of the client's request to the node that relays.
  private func report(_ refusal: RelayRefusal?) {
    guard let refusal else { return writeControl(.attached) }
    if refusal.error == Self.hasMoved {
      writeControl(.moved)
    } else {
      writeControl(.refused) { refusal.error.write(to: &$0) }
    }
    advance(.finish)
  }

  /// Writes a message for the node that relays.
  func writeControl(_ control: NodeControl, _ body: (inout JSONWriter) -> Void = { _ in }) {
    writer.write { writer in
      writer.raw(byte: control.rawValue)
      body(&writer)
    }
  }

  /// Carries out `node/fault`: writes an error for a frame of the client that is not a message.
  func reportFault(_ request: Request) throws(RPCError) {
    let fault: NodeRelay.Fault = try request.decode(limits: settings.limits)
    writer.fail(RPCError(RPCErrorCode(rawValue: fault.code), fault.message, data: fault.data))
  }
}

/// A client that another node relays.
///
/// An object, because most clients are not relayed, and their connections need little memory.
final class NodeClient: Sendable {
  /// The time from which the client evicts no other client.
  let evictionEnd: ContinuousClock.Instant

  init(evictionEnd: ContinuousClock.Instant) { self.evictionEnd = evictionEnd }
}
