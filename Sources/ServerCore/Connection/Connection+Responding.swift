// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// Responses to a request in hand. A notification gets none.
extension Connection {
  /// - Parameter body: Writes the members of the result.
  func reply(to request: Request, _ body: (inout JSONWriter) -> Void) {
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch) { $0.result(body) }
  }

  func replyNull(to request: Request) {
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch) { $0.raw(",\"result\":null}") }
  }

  func reply(to request: Request, revision: Revision, changed: Bool) {
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch, revision: revision, changed: changed)
  }

  func reply(to request: Request, error: RPCError) {
    guard let id = request.id else { return }
    writer.respond(to: id, in: request.batch) { $0.error(error) }
  }

  /// Responds with a result that can be large, which is an error if it is longer than may wait for the client.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - expectedBytes: About how long the result is.
  ///   - shard: The shard.
  ///   - body: Writes the members of the result, on any thread; what it throws becomes the response.
  func reply(
    to request: Request, expecting expectedBytes: Int, _ shard: isolated Shard,
    _ body: @escaping @Sendable (inout JSONWriter) throws(RPCError) -> Void
  ) {
    guard let id = request.id else { return }
    do throws(RPCError) {
      guard let batch = request.batch else {
        return try writer.respond(to: id, expecting: expectedBytes, body)
      }
      let work = try writer.response(to: id, in: batch, expecting: expectedBytes, body)
      guard let work else { return }
      // The next request of the batch waits for it.
      batch.open += 1
      offload(OffloadedRequest(batch: batch), shard, work) { connection, request, bytes, _ in
        guard let batch = request.batch else { return }
        batch.beginAnswer()
        batch.append(bytes)
        connection.writer.finish(batch)
      }
    } catch {
      reply(to: request, error: error)
    }
  }
}
