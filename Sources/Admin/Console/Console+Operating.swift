// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports
internal import Wire

// The actions of an operator. Each leaves a line in the log, without the contents of an input.

extension Console {
  /// The time for a store to reply to an input.
  static var timeToReply: TimeAmount { .seconds(60) }

  /// Sends an input to a store: `store`, `input`. Responds when the store has replied.
  func send(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    guard let store = request.object?["store"]?.string, let input = request.object?["input"] else {
      return ready(.error(.badRequest, "the members store and input are missing"))
    }
    // Other names can be contents of an input, and so can be parts of the reason to refuse it.
    let name = input["type"]?.string.flatMap { secrets.isInput($0) ? "the input \($0)" : nil }
    let action = "sent \(name ?? "an input") to the store \(store.prefix(64))"
    // The refusal of a program comes later than those of the input itself; nil if there is none.
    let reply = loop.makePromise(of: ConsoleResponse?.self)
    let late = loop.scheduleTask(in: Self.timeToReply) {
      reply.succeed(.error(.unavailable, "the store has not replied yet"))
    }
    reply.futureResult.whenComplete { _ in late.cancel() }
    let sent = operate(request, place, action, logsReason: false) { shard, session in
      do throws(SessionError) {
        let revision = try session.operate(
          sending: input.bytes, to: store, isolation: shard
        ) { refusal in
          reply.succeed(
            refusal.map { .error(.badRequest, $0.explanation) })
        }
        return .value(["revision": JSONValue(revision)])
      } catch {
        return .error(.badRequest, error.explanation)
      }
    }
    return sent.flatMap { response in
      guard case .value = response else {
        reply.succeed(nil)
        return reply.futureResult.map { _ in response }
      }
      return reply.futureResult.map { $0 ?? response }
    }
  }

  /// Closes a store: `store`.
  func close(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    let store = request.object?["store"]?.string ?? ""
    return operate(request, place, "closed the store \(store.prefix(64))") { shard, session in
      do throws(SessionError) {
        try session.close(store, isolation: shard)
        return .value([:])
      } catch {
        return .error(.badRequest, error.explanation)
      }
    }
  }

  /// Evicts a participant: `client`.
  func evict(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    let id = request.object?["client"]?.string ?? ""
    return operate(request, place, "evicted the client \(id.prefix(32))") { shard, session in
      let participants = session.contents.participants
      guard let client = participants.first(where: { "\($0.client)" == id })?.client,
        session.evictByOperator(client, isolation: shard)
      else { return .error(.notFound, "the session has no such participant") }
      return .value([:])
    }
  }

  /// Ends a session, or a copy.
  func end(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    if copies[place.shard] != nil {
      copies.end(place.shard)
      log(request, "ended a copy", ["id": "\(place.id)"])
      return ready(.value([:]))
    }
    return endSession(request, place)
  }

  private func endSession(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    operate(request, place, "ended the session") { shard, session in
      guard !session.summary(isolation: shard).isOwnerOfShared else {
        return .error(.badRequest, "close the store in the sessions that share it")
      }
      session.endByOperator(isolation: shard)
      return .value([:])
    }
  }

  /// Drains the server, as SIGTERM does.
  func drain(_ request: ConsoleRequest) -> EventLoopFuture<ConsoleResponse> {
    guard let drain = operations.drain else {
      return ready(.error(.notFound, "draining is not available here; send SIGTERM to the server"))
    }
    log(request, "drained the server")
    drain()
    return ready(.value([:]))
  }

  /// Calls `body` in a turn of the session's shard, and logs what it has done.
  func operate(
    _ request: ConsoleRequest, _ place: SessionIndex.Place, _ action: String,
    logsReason: Bool = true,
    _ body: @escaping @Sendable (isolated Shard, Session) -> ConsoleResponse
  ) -> EventLoopFuture<ConsoleResponse> {
    let bound = NIOLoopBound((self, request), eventLoop: loop)
    return shards.read(place.shard, on: loop) { shard -> (String?, ConsoleResponse) in
      guard let session = shard.session(place.key) else { return (nil, .noSession) }
      return (session.handle?.abbreviated, shard.turn { body(shard, session) })
    }.map { result in
      guard let (handle, response) = result else {
        return .error(.unavailable, "the shard does not respond")
      }
      var metadata: Logger.Metadata = ["id": "\(place.id)"]
      if let handle { metadata["session"] = "\(handle)" }
      if case .error(_, let reason) = response {
        metadata["refused"] = logsReason ? "\(reason.printable)" : "true"
      }
      let (console, request) = bound.value
      console.log(request, action, metadata)
      return response
    }
  }

  /// Logs what an operator has done.
  func log(_ request: ConsoleRequest, _ action: String, _ metadata: Logger.Metadata = [:]) {
    var metadata = metadata
    if let name = request.operatorName { metadata["operator"] = "\(name)" }
    operations.logger?.notice("operator: \(action.printable)", metadata: metadata)
  }
}
