// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Requests that take long are prepared on another thread, so that no other client waits for them. This client's next
// messages wait for it.
extension Connection {
  /// Lets another thread do a part of a request that takes long.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - shard: The shard.
  ///   - work: Done on any thread.
  ///   - body: Continues with what `work` returned, in a turn of its own, unless the connection is closed.
  func offload<Outcome: Sendable>(
    _ request: OffloadedRequest, _ shard: isolated Shard,
    _ work: @escaping @Sendable () -> Outcome,
    then body: @escaping @Sendable (Connection, OffloadedRequest, Outcome, isolated Shard) -> Void
  ) {
    let number = begin(request)
    // because it is looked at on the shard only, where it is given and taken.
    nonisolated(unsafe) weak let connection = self
    shard.elsewhere(work) { outcome, shard in
      connection?.end(number, shard) { body($0, $1, outcome, shard) }
    }
  }

  /// Continues a request after something that the shard waits for; the client's next messages wait, too.
  ///
  /// The wait ends early when the time of the connection's requests is up: the disk may take any time.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - shard: The shard.
  ///   - start: Starts it, and gets a step that is to be called on the shard later, in a turn.
  ///   - body: Continues, in that turn, unless the connection is closed.
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

  /// Responds -32800 to a request that waits for something of the shard; the response to one that another thread works on comes
  /// soon.
  func endWait() {
    guard let request = offloaded, request.endsWithTime else { return }
    offloaded = nil
    writer.offloadEnded()
    guard let id = request.id else { return }
    writer.respond(to: ReplyAddress(id: id, batch: request.batch)) {
      $0.error(RPCError(.requestCancelled, "cancelled"))
    }
  }

  /// - Returns: The number to end it by, so that what comes too late is noticed.
  private func begin(_ request: OffloadedRequest, endsWithTime: Bool = false) -> UInt32 {
    offloadCount &+= 1
    // Not in a closure: a batch is released on the shard.
    offloaded = request
    offloaded?.number = offloadCount
    offloaded?.endsWithTime = endsWithTime
    writer.requestOffloaded(byteCount: request.byteCount)
    return offloadCount
  }

  private func end(
    _ number: UInt32, _ shard: isolated Shard, _ body: (Connection, OffloadedRequest) -> Void
  ) {
    guard let request = offloaded, request.number == number else { return }
    offloaded = nil
    writer.offloadEnded()
    body(self, request)
    writer.resume(shard)
  }
}

/// A request that another thread works on.
struct OffloadedRequest {
  /// The id as it came; nil if no response is wanted, or the work is the response.
  var id: RequestID?
  var batch: Batch?
  /// Number of bytes of it that are kept meanwhile.
  var byteCount = 0
  var number: UInt32 = 0
  /// True if it is cancelled when the time of the connection's requests is up.
  var endsWithTime = false
}

extension OffloadedRequest {
  /// One that is responded to when the work is done; a part of its batch until then.
  init(_ request: Request, byteCount: Int = 0) {
    self.init(id: request.id.map { RequestID($0) }, batch: request.batch, byteCount: byteCount)
    if id != nil { batch?.open += 1 }
  }
}
