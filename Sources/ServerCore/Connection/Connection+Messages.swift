// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

// Dispatch of messages: from the text of a message to its method.
extension Connection {
  /// Carries out one message: a request, a notification or a batch of both.
  ///
  /// - Source: JSON-RPC 2.0 §4 to §7.
  func handle(_ message: UnsafeRawBufferPointer, _ shard: isolated Shard) {
    if sendMatchingTemplate(message) {
      if let template = templates.current, template.pace.isDue() { yieldIfLong(adapting: template) }
      return
    }
    if let linkState {
      if linkState.isOpen { return forward(message, linkState) }
      // Messages wait while a node is asked, so the attempt has ended with an error.
      dropLink()
    }
    turnOutcome.beginWork(at: settings.now())
    defer { yieldIfLong() }
    do throws(JSONError) {
      var reader = JSONReader(message, limits: JSONLimits(maximumDepth: settings.limits.depth))
      switch try reader.peek() {
      case .object:
        let envelope = try Envelope(reading: &reader)
        try reader.finish()
        dispatch(envelope, batch: nil, shard)
      case .array:
        // The whole message must be JSON before any request of it is carried out.
        let start = reader
        _ = try reader.skipValue()
        try reader.finish()
        try handleBatch(start, message, shard)
      default:
        _ = try reader.skipValue()
        try reader.finish()
        writer.fail(RPCError(.invalidRequest, "a request must be a JSON object"))
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
    guard length > 0 else {
      return writer.fail(RPCError(.invalidRequest, "a batch must not be empty"))
    }
    guard length <= settings.limits.batchLength else {
      return writer.fail(
        RPCError(
          limit: .batchLength, "a batch has at most \(settings.limits.batchLength) requests"))
    }
    try carryOut(Batch(), message, shard)
  }

  /// Carries out the requests of a batch, until the batch must wait.
  private func carryOut(
    _ batch: Batch, _ requests: UnsafeRawBufferPointer, _ shard: isolated Shard
  ) throws(JSONError) {
    var reader = JSONReader(requests, limits: JSONLimits(maximumDepth: settings.limits.depth))
    try reader.beginArray()
    while try reader.nextElement() {
      if life.isOver {
        return
      } else if writer.isYielding || offloaded != nil {
        waitingBatch = WaitingBatch(
          requests: [UInt8(ascii: "[")] + requests[reader.position...], batch: batch)
        return
      } else {
        if try reader.peek() == .object {
          dispatch(try Envelope(reading: &reader), batch: batch, shard)
        } else {
          _ = try reader.skipValue()
          writer.fail(RPCError(.invalidRequest, "a request must be a JSON object"), batch: batch)
        }
        yieldIfLong()
      }
    }
    writer.finish(batch)
  }

  /// Continues a batch that has waited.
  func continueBatch(with rest: WaitingBatch, _ shard: isolated Shard) {
    turnOutcome.beginWork(at: settings.now())
    do throws(JSONError) {
      try rest.requests.withRawBytes { requests throws(JSONError) in
        try carryOut(rest.batch, requests, shard)
      }
    } catch {
      writer.fail(RPCError(notJSON: error))
    }
  }

  /// Carries out a request that has waited or that another connection has passed on, as JSON text.
  func dispatch(_ text: UnsafeRawBufferPointer, batch: Batch?, _ shard: isolated Shard) {
    do throws(JSONError) {
      var reader = JSONReader(text, limits: JSONLimits(maximumDepth: settings.limits.depth))
      dispatch(try Envelope(reading: &reader), batch: batch, shard)
    } catch {
      let error = RPCError(notJSON: error)
      if !reportRelayed(error) { writer.fail(error, batch: batch) }
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
      // The responses to a batch are one message, so their size can be limited only here.
      if let batch, id != nil { try writer.checkRoom(in: batch) }
      try perform(method, request, shard)
    } catch {
      if let opening = participant.session.takeUnprepared() {
        return prepare(opening, for: request, shard)
      }
      if method == StoreSend.method { remember(error, of: request) }
      reply(to: request, error: error)
    }
  }

  /// Responds with an error to a request that is given as JSON text.
  func fail(_ text: UnsafeRawBufferPointer, _ error: RPCError, batch: Batch?) {
    var reader = JSONReader(text, limits: JSONLimits(maximumDepth: settings.limits.depth))
    guard let envelope = try? Envelope(reading: &reader), case .usable(let id) = envelope.id else {
      return
    }
    let request = Request(id: id, text: text, params: envelope.params, batch: batch)
    if let method = envelope.method, method == StoreSend.method { remember(error, of: request) }
    reply(to: request, error: error)
  }

  /// Checks whether the client may call a method, and calls it.
  private func perform(
    _ method: JSONKey, _ request: Request, _ shard: isolated Shard
  ) throws(RPCError) {
    try checkAuthorised(for: method)
    try checkNotShutDown(for: method)
    if participant.session.isEnded, Self.requiresSession(method) {
      throw RPCError(SessionError.expiredSession)
    }
    // The most frequent method has a shorter path.
    if method == StoreSend.method { return try storeSend(request, shard) }
    if method == NodeRelay.method { return try serveNode(request, shard) }
    if isNodeLink {
      if method == NodeRelay.attachMethod { return try attachRelayed(request, shard) }
      if method == NodeRelay.faultMethod { return try reportFault(request) }
    }
    try respond(to: request, result(of: method, request, shard), shard)
  }

  /// Returns the result of a method: the table of all methods except `store/send`.
  private func result(
    of method: JSONKey, _ request: Request, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let context = context
    switch method {
    case StoreOpen.method:
      // It may cost as much as many inputs, as may the other methods below that count as an input.
      try spendInput()
      return try StoreOpen.respond(to: request, context, shard)
    case StoreSubscribe.method:
      return try StoreSubscribe.respond(to: params(of: request), context, shard)
    case StoreUnsubscribe.method:
      return try StoreUnsubscribe.respond(to: params(of: request), context, shard)
    case StoreState.method: return try StoreState.respond(to: params(of: request), context, shard)
    case StoreClose.method: return try StoreClose.respond(to: params(of: request), context, shard)
    case CancelRequest.method: return try cancelRequest(params(of: request))
    case Initialize.method:
      let params: Initialize.Params = try params(of: request)
      try authorise(with: params.token?.text, request)
      return try Initialize.respond(to: params, settings, log: logMetadata(of: request))
    case FrontendLifecycle.method:
      return FrontendLifecycle.respond(to: try params(of: request), context)
    case SessionOpen.method:
      try spendInput()
      return try SessionOpen.respond(to: params(of: request), context, shard)
    case SessionAttach.method:
      return try SessionAttach.respond(to: request, context, shard)
    case SessionTrace.method: return SessionTrace.respond(to: try params(of: request), context)
    case TestAdvanceClock.method:
      _ = try shard.testMode
      return try TestAdvanceClock.respond(to: params(of: request), shard)
    case TestInjectFault.method:
      _ = try shard.testMode
      return try TestInjectFault.respond(to: params(of: request), context, shard)
    case SessionDetach.method:
      try checkNoParams(of: request)
      return try SessionDetach.respond(context, shard)
    case SessionClose.method:
      try checkNoParams(of: request)
      return try SessionClose.respond(context, shard)
    case SessionInfo.method:
      try checkNoParams(of: request)
      return SessionInfo.respond(context, shard)
    case Discover.method:
      try checkNoParams(of: request)
      try spendInput()
      return Discover.respond(context, shard)
    case Ping.method:
      try checkNoParams(of: request)
      return .empty
    case Shutdown.method:
      try checkNoParams(of: request)
      return shutdown()
    case Exit.method:
      try checkNoParams(of: request)
      return exit()
    default: throw RPCError(.methodNotFound, "there is no such method")
    }
  }

  /// The context that methods may use.
  var context: MethodContext {
    MethodContext(
      participant: participant, identity: identity, settings: settings, common: common,
      evicts: evicts)
  }

  /// Refuses parameters by position; parameters by name are ignored.
  ///
  /// - Throws: `RPCError` -32602.
  private func checkNoParams(of request: Request) throws(RPCError) {
    _ = try request.namedParams()
  }

  private func params<Params: Decodable>(of request: Request) throws(RPCError) -> Params {
    try request.decode(limits: settings.limits)
  }

  /// Returns true if a method needs the session of the connection.
  private static func requiresSession(_ method: JSONKey) -> Bool {
    switch method {
    case StoreSend.method, StoreOpen.method, StoreSubscribe.method, StoreUnsubscribe.method,
      StoreState.method, StoreClose.method, FrontendLifecycle.method, SessionDetach.method,
      SessionClose.method, SessionInfo.method, SessionTrace.method, TestInjectFault.method:
      true
    default: false
    }
  }
}
