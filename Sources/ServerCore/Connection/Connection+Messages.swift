// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// From the text of a message to the method that carries it out.
extension Connection {
  /// Carries out one message: a request, a notification or a batch of them.
  ///
  /// - Source: JSON-RPC 2.0 §4 to §7.
  func handle(_ message: UnsafeRawBufferPointer, _ shard: isolated Shard) {
    if sendAlike(message) {
      if let shape, shape.pace.isDue() { yieldIfLong(adapting: shape) }
      return
    }
    turnEnd.beginWork(at: settings.now())
    defer { yieldIfLong() }
    do throws(JSONError) {
      var reader = JSONReader(message, limits: JSONLimits(maximumDepth: settings.limits.depth))
      switch try reader.peek() {
      case .object:
        let envelope = try Envelope(reading: &reader)
        try reader.finish()
        dispatch(envelope, batch: nil, shard)
      case .array:
        // All of it must be JSON before any of it is carried out.
        let start = reader
        _ = try reader.skipValue()
        try reader.finish()
        try handleBatch(start, message, shard)
      default:
        _ = try reader.skipValue()
        try reader.finish()
        writer.fail(RPCError(.invalidRequest, "a request is an object"))
      }
    } catch {
      writer.fail(RPCError(notJSON: error))
    }
  }

  private func handleBatch(
    _ start: JSONReader, _ message: UnsafeRawBufferPointer, _ shard: isolated Shard
  ) throws(JSONError) {
    var reader = start
    var length = 0
    try reader.beginArray()
    while try reader.nextElement() {
      length += 1
      _ = try reader.skipValue()
    }
    guard length > 0 else { return writer.fail(RPCError(.invalidRequest, "a batch is not empty")) }
    guard length <= settings.limits.batchLength else {
      return writer.fail(
        RPCError(
          limit: .batchLength, "a batch has at most \(settings.limits.batchLength) requests"))
    }
    try carryOut(Batch(), from: 0, in: message, shard)
  }

  /// Carries out the requests of a batch from one on, until others have to be heard.
  private func carryOut(
    _ batch: Batch, from first: Int, in message: UnsafeRawBufferPointer, _ shard: isolated Shard
  ) throws(JSONError) {
    var reader = JSONReader(message, limits: JSONLimits(maximumDepth: settings.limits.depth))
    var next = 0
    try reader.beginArray()
    while try reader.nextElement() {
      if next < first {
        _ = try reader.skipValue()
      } else if life.isOver {
        return
      } else if writer.isYielding || offloaded != nil {
        batchRest = BatchRest(message: Array(message), next: next, batch: batch)
        return
      } else {
        if try reader.peek() == .object {
          dispatch(try Envelope(reading: &reader), batch: batch, shard)
        } else {
          _ = try reader.skipValue()
          writer.fail(RPCError(.invalidRequest, "a request is an object"), batch: batch)
        }
        yieldIfLong()
      }
      next += 1
    }
    writer.finish(batch)
  }

  /// Goes on with a batch, now that others have been heard.
  func goOn(with rest: BatchRest, _ shard: isolated Shard) {
    turnEnd.beginWork(at: settings.now())
    do throws(JSONError) {
      try rest.message.withRawBytes { message throws(JSONError) in
        try carryOut(rest.batch, from: rest.next, in: message, shard)
      }
    } catch {
      writer.fail(RPCError(notJSON: error))
    }
  }

  private func dispatch(_ envelope: Envelope, batch: Batch?, _ shard: isolated Shard) {
    if envelope.isResponse || hasExited { return }
    var id: UnsafeRawBufferPointer?
    if case .usable(let bytes) = envelope.id { id = bytes }
    if let fault = envelope.fault {
      let error = RPCError(.invalidRequest, fault)
      guard id != nil else { return writer.fail(error, batch: batch) }
      return reply(
        to: Request(id: id, text: envelope.text, params: .absent, batch: batch), error: error)
    }
    guard let method = envelope.method else { return }
    let request = Request(
      id: id, text: envelope.text, params: envelope.params, batch: batch)
    do throws(RPCError) {
      // The answers to a batch go out as one piece, so only here can they be kept from growing.
      if let batch, id != nil { try writer.checkRoom(in: batch) }
      try perform(method, request, shard)
    } catch {
      if method == StoreSend.method { remember(error, of: request) }
      reply(to: request, error: error)
    }
  }

  /// The table of methods. Each is written in a file of its own.
  private func perform(
    _ method: JSONKey, _ request: Request, _ shard: isolated Shard
  ) throws(RPCError) {
    try checkAuthorised(for: method)
    try checkNotShutDown(for: method)
    if member.session.isEnded, Self.isAboutSession(method) {
      throw RPCError(SessionError.expiredSession)
    }
    switch method {
    case StoreSend.method: try storeSend(request, shard)
    case StoreOpen.method: try storeOpen(request, shard)
    case StoreSubscribe.method: try storeSubscribe(request, shard)
    case StoreUnsubscribe.method: try storeUnsubscribe(request, shard)
    case StoreState.method: try storeState(request, shard)
    case StoreClose.method: try storeClose(request, shard)
    case CancelRequest.method: try cancelRequest(request)
    case Initialize.method: try initialize(request)
    case Ping.method: try ping(request)
    case Shutdown.method: try shutdown(request)
    case Exit.method: try exit(request)
    case FrontendLifecycle.method: try frontendLifecycle(request)
    case SessionOpen.method: try sessionOpen(request, shard)
    case SessionAttach.method: try sessionAttach(request, shard)
    case SessionDetach.method: try sessionDetach(request, shard)
    case SessionClose.method: try sessionClose(request, shard)
    case SessionInfo.method: try sessionInfo(request, shard)
    case SessionTrace.method: try sessionTrace(request)
    case Discover.method: try discover(request, shard)
    case TestAdvanceClock.method: try testAdvanceClock(request, shard)
    case TestInjectFault.method: try testInjectFault(request, shard)
    default: throw RPCError(.methodNotFound, "there is no such method")
    }
  }

  /// Whether a method is nothing without the session that the connection is in.
  private static func isAboutSession(_ method: JSONKey) -> Bool {
    switch method {
    case StoreSend.method, StoreOpen.method, StoreSubscribe.method, StoreUnsubscribe.method,
      StoreState.method, StoreClose.method, FrontendLifecycle.method, SessionDetach.method,
      SessionClose.method, SessionInfo.method, SessionTrace.method, TestInjectFault.method:
      true
    default: false
    }
  }

  /// This frontend's hold on a store; made on first use.
  func attachment(
    _ name: JSONKey, _ shard: isolated Shard
  ) throws(RPCError) -> Attachment {
    try refusing { () throws(SessionError) in try member.attachment(name, isolation: shard) }
  }

  /// This frontend's hold on a store; made on first use.
  func attachment(
    _ name: String, _ shard: isolated Shard
  ) throws(RPCError) -> Attachment {
    try refusing { () throws(SessionError) in try member.attachment(name, isolation: shard) }
  }

  /// The session, in which this frontend may change something.
  func drivenSession() throws(RPCError) -> Session {
    try refusing { () throws(SessionError) in try member.checkDriver() }
    return member.session
  }
}
