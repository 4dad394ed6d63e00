// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

/// A request whose response a function gives later.
final class DeferredRequest {
  /// The address of the response; nil for a notification.
  let address: ReplyAddress?

  init(address: ReplyAddress?) { self.address = address }
}

// Responses to the request that is being processed. A notification gets none.
extension Connection {
  /// Responds with a result.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: Writes the members of the result.
  func reply(to request: Request, _ body: (inout JSONWriter) -> Void) {
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch) { $0.result(body) }
  }

  /// Responds to an accepted input.
  func reply(to request: Request, revision: Revision, changed: Bool) {
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch, revision: revision, changed: changed)
  }

  /// Responds with an error.
  func reply(to request: Request, error: RPCError) {
    if relayState != nil, reportRelayed(error) { return }
    writer.count(error)
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch) { $0.error(error) }
  }

  /// Responds with the result of a method, now or after its work.
  ///
  /// - Throws: `RPCError`, which becomes the response.
  func respond(
    to request: Request, _ result: MethodResult, _ shard: isolated Shard
  ) throws(RPCError) {
    switch result {
    case .members(let body): reply(to: request, body)
    case .null:
      guard let id = request.id else { return }
      writer.respond(to: id, in: request.batch) { $0.raw(",\"result\":null}") }
    case .large(let expectedBytes, let body):
      try respond(to: request, expecting: expectedBytes, body, shard)
    case .shared(let text): respond(to: request, sharing: text)
    case .offloaded(let keptBytes, let work):
      if keptBytes > 0 { try writer.checkRoom(forResponseOf: keptBytes) }
      offload(OffloadedRequest(request, byteCount: keptBytes), shard, work) {
        connection, request, continuation, shard in
        connection.continue(request, continuation, shard)
      }
    case .awaited(let begin, let continuation):
      if life.isTimeUp { throw RPCError(.requestCancelled, "cancelled") }
      let offloaded = OffloadedRequest(request)
      wait(offloaded, shard, begin) { connection, request, shard in
        connection.continue(request, continuation, shard)
      }
    case .deferred(let body):
      let waiting = DeferredRequest(address: request.address)
      if waiting.address != nil { request.batch?.open += 1 }
      deferred.append(waiting)
      body { [weak self] in
        guard let self, let index = deferred.firstIndex(where: { $0 === waiting }) else { return }
        deferred.remove(at: index)
        guard let address = waiting.address else { return writer.awaitTurnEnd() }
        writer.respond(to: address) { $0.result { _ in } }
      }
    case .moved(let participant, let result):
      if participant !== self.participant {
        writer.willLeaveSession()
        self.participant = participant
      }
      if linkState != nil { dropLink() }
      if relayState != nil { _ = reportRelayed(nil) }
      try respond(to: request, result, shard)
    case .onShard(let index): try relay(request, to: index)
    case .onNode(let node, let text): try link(request, text, to: node)
    case .replayed(let replays, let result):
      // The client has joined the session even if the response fails, so it gets the updates.
      do throws(RPCError) { try respond(to: request, result, shard) } catch {
        reply(to: request, error: error)
      }
      for (subscription, revision) in replays {
        subscription.replay(from: revision) { writer.write(update: $0, applied: []) }
      }
    }
  }

  private func respond(
    to request: Request, expecting expectedBytes: Int,
    _ body: @escaping @Sendable (inout JSONWriter) throws(RPCError) -> Void,
    _ shard: isolated Shard
  ) throws(RPCError) {
    guard let id = request.id else { return }
    guard let batch = request.batch else {
      return try writer.respond(to: id, expecting: expectedBytes, body)
    }
    let work = try writer.response(to: id, in: batch, expecting: expectedBytes, body)
    guard let work else { return }
    // The next request of the batch waits for it.
    offload(OffloadedRequest(request), shard, work) { connection, request, bytes, _ in
      guard let batch = request.batch else { return }
      batch.beginResponse()
      batch.append(bytes)
      connection.writer.finish(batch)
    }
  }

  /// Responds with the text of an object; a batch holds the text without a copy.
  private func respond(to request: Request, sharing text: [UInt8]) {
    guard let id = request.id else { return }
    guard let batch = request.batch else {
      return reply(to: request) { writer in
        text.dropFirst().dropLast().withUnsafeBytes { writer.raw($0) }
      }
    }
    batch.beginResponse()
    batch.responses.response(to: id) { $0.raw(",\"result\":") }
    batch.append(text)
    batch.responses.raw(byte: UInt8(ascii: "}"))
  }

  /// Continues a request after its work on another thread or its wait.
  func `continue`(
    _ request: OffloadedRequest, _ continuation: MethodResult.Continuation,
    _ shard: isolated Shard
  ) {
    let id = request.id
    (id?.text ?? []).withUnsafeBytes { text in
      let request = Request(
        id: id == nil ? nil : text, text: text, params: .absent, batch: request.batch)
      do throws(RPCError) {
        if life.isTimeUp { throw RPCError(.requestCancelled, "cancelled") }
        try respond(to: request, continuation(context, shard), shard)
      } catch {
        reply(to: request, error: error)
      }
    }
    if id != nil, let batch = request.batch { writer.finish(batch) }
  }
}
