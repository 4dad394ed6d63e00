// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireProtocol

// A node whose database does not respond lets clients wait. After a bounded time, each request that
// waits gets an error, and the connection closes, so that the client can try another node.
extension Connection {
  /// Responds with the error -32800 to all requests that wait, and closes the connection.
  ///
  /// It is not known if an input among them is in the journal. The client sends it again with its
  /// sequence, after it has attached again.
  func becomeUnavailable() {
    // Also responses before the end of the output wait, for the lease or for commits.
    if life.isOver, writer.isDelivered, !writer.awaitsCommits { return }
    guard !life.isClosed else { return writer.discard() }
    guard var waiting = writer.discardUnsent() else {
      // The end of the output was discarded, too.
      return life.isOver ? advance(.cut) : writer.discard()
    }
    for (_, address) in running.removeAll() {
      if let address { waiting.add(address.id.text, in: address.batch) }
    }
    if let offloaded, let id = offloaded.id { waiting.add(id.text, in: offloaded.batch) }
    if let rest = waitingBatch { waiting.add(rest: rest.requests, in: rest.batch) }
    for arrival in backlog { if case .message(let bytes) = arrival { waiting.add(message: bytes) } }
    backlog = []
    dropWaiting()
    dropLink()
    if isNodeLink { writer.writeNow { $0.raw(byte: NodeControl.ends.rawValue) } }
    writer.respond(to: waiting, Self.isUnavailable)
    if isNodeLink { writer.writeNow { $0.raw(byte: NodeControl.closes.rawValue) } }
    output.serviceRestarts()
    if life.isOver { writer.act(.endOutput) } else { advance(.done) }
  }

  /// Closes the connection, because the journal lacks entries of its session.
  public func journalFailed() {
    if output.awaitsEarlier { output.endWithEarlier() } else { becomeUnavailable() }
  }

  private static var isUnavailable: RPCError {
    RPCError(
      .requestCancelled,
      "the session database does not respond: it is unknown whether the request was carried out; connect again, and send inputs again with their sequence"
    )
  }
}
