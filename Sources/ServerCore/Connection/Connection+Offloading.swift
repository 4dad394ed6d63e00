// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Offloading: requests that take long are prepared on another thread, so that no other client waits
// for them. The next messages of this client wait.
extension Connection {
  /// Runs the expensive part of a request on another thread.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - shard: The shard.
  ///   - work: The part that runs on any thread.
  ///   - body: Continues with the value that `work` returned, in a new turn; not called if the
  ///     connection is closed.
  func offload<Outcome: Sendable>(
    _ request: OffloadedRequest, _ shard: isolated Shard,
    _ work: @escaping @Sendable () async -> Outcome,
    then body: @escaping @Sendable (Connection, OffloadedRequest, Outcome, isolated Shard) -> Void
  ) {
    let number = begin(request)
    // because it is used on the shard only.
    nonisolated(unsafe) weak let connection = self
    shard.offload(work) { outcome, shard in
      connection?.end(number, shard) { body($0, $1, outcome, shard) }
    }
  }

  /// Prepares a store that a request opens, and then carries out the request again.
  func prepare(_ opening: StoreOpening, for request: Request, _ shard: isolated Shard) {
    let (text, viewer) = (Array(request.text), participant.viewer)
    let clock = participant.session.clock
    offload(OffloadedRequest(request, byteCount: text.count), shard) {
      var opening = opening
      await opening.prepare(for: viewer, at: clock)
      return opening
    } then: { connection, request, opening, shard in
      text.withUnsafeBytes { text in
        do throws(SessionError) {
          _ = try connection.participant.session.open(opening, by: viewer, isolation: shard)
          connection.dispatch(text, batch: request.batch, shard)
        } catch {
          connection.fail(text, RPCError(error), batch: request.batch)
        }
      }
      if request.id != nil, let batch = request.batch { connection.writer.finish(batch) }
    }
  }

  /// Continues a request after an operation of the shard has ended; the client's next messages
  /// wait.
  ///
  /// The wait ends early when the time limit of the connection's requests is over, because a disk
  /// may take any time.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - shard: The shard.
  ///   - start: Starts the operation. It gets a closure that must be called later, on the shard and
  ///     in a turn.
  ///   - body: Continues in that turn; not called if the connection is closed.
  func wait(
    _ request: OffloadedRequest, _ shard: isolated Shard,
    _ start: (isolated Shard, @escaping (isolated Shard) -> Void) -> Void,
    then body: @escaping (Connection, OffloadedRequest, isolated Shard) -> Void
  ) {
    let number = begin(request, endsWithTime: true)
    // because the step is called on the shard only, in a turn.
    nonisolated(unsafe) weak let connection = self
    // because it is called with the step.
    nonisolated(unsafe) let body = body
    start(shard) { shard in connection?.end(number, shard) { body($0, $1, shard) } }
  }

  /// Responds -32800 to a request that waits for an operation of the shard. A request that another
  /// thread works on is left alone: its response comes soon.
  func endWait() {
    guard let request = offloaded, request.endsWithTime else { return }
    offloaded = nil
    writer.offloadEnded()
    guard let id = request.id else { return }
    let error = RPCError(.requestCancelled, "cancelled")
    writer.count(error)
    writer.respond(to: ReplyAddress(id: id, batch: request.batch)) { $0.error(error) }
  }

  /// Makes a request the offloaded one.
  ///
  /// - Returns: The number to end it by, so that a late end is detected.
  func begin(_ request: OffloadedRequest, endsWithTime: Bool = false) -> UInt32 {
    offloadCount &+= 1
    // Kept here and not in a closure, because a batch must be released on the shard.
    offloaded = request
    request.number = offloadCount
    request.endsWithTime = endsWithTime
    writer.requestOffloaded(byteCount: request.byteCount)
    return offloadCount
  }

  func end(
    _ number: UInt32, _ shard: isolated Shard, _ body: (Connection, OffloadedRequest) -> Void
  ) {
    guard let request = offloaded, request.number == number else { return }
    offloaded = nil
    writer.offloadEnded()
    body(self, request)
    writer.resume(shard)
  }
}

/// A request that waits for another thread or for an operation of the shard.
///
/// An object, because a connection usually has none.
final class OffloadedRequest {
  /// The id as JSON text; nil for a notification.
  let id: RequestID?
  let batch: Batch?
  /// Number of bytes of the request that are held during the work.
  let byteCount: Int
  var number: UInt32 = 0
  /// True if it is cancelled when the time limit of the connection's requests is over.
  var endsWithTime = false

  init(id: RequestID? = nil, batch: Batch? = nil, byteCount: Int = 0) {
    self.id = id
    self.batch = batch
    self.byteCount = byteCount
  }
}

extension OffloadedRequest {
  /// Creates one that gets its response after the work; until then it keeps its batch open.
  convenience init(_ request: Request, byteCount: Int = 0) {
    self.init(id: request.id.map { RequestID($0) }, batch: request.batch, byteCount: byteCount)
    if id != nil { batch?.open += 1 }
  }
}
