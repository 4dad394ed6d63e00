// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `store/open`
  func storeOpen(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    // It may cost as much as many an input.
    try spendInput()
    let limits = settings.limits
    let kinds = shard.kinds
    // Under test nothing is put off: what comes together is told together.
    if testing == nil, request.text.count > Self.largeRequestBytes,
      let text = try request.namedParams()
    {
      try writer.checkRoom(forAnswerOf: text.count)
      let copy = Array(text)
      return offloadOpening(OffloadedRequest(request, byteCount: copy.count), shard) {
        () throws(RPCError) in
        let params: StoreOpen.Params = try copy.withRawBytes { text throws(RPCError) in
          try Request.read(text, limits: limits)
        }
        return StoreOpening(params, of: kinds)
      }
    }
    let opening = StoreOpening(try request.read(limits: limits), of: kinds)
    if testing == nil, try drivenSession().mayPrepare(opening, isolation: shard) {
      return offloadOpening(OffloadedRequest(request), shard) { opening }
    }
    let revision = try open(opening, shard)
    reply(to: request) { Self.write(openedAt: revision, to: &$0) }
  }

  // Reading so much may take a millisecond.
  private static var largeRequestBytes: Int { 32 << 10 }

  private func open(
    _ opening: StoreOpening, _ shard: isolated Shard
  ) throws(RPCError) -> Revision {
    let session = try drivenSession()
    return try refusing { () throws(SessionError) in try session.open(opening, isolation: shard) }
  }

  private static func write(openedAt revision: Revision, to writer: inout JSONWriter) {
    writer.key("revision")
    writer.value(revision)
  }

  /// Reads the request and prepares the store on another thread.
  private func offloadOpening(
    _ request: OffloadedRequest, _ shard: isolated Shard,
    _ read: @escaping @Sendable () throws(RPCError) -> StoreOpening
  ) {
    offload(request, shard) {
      Result { () throws(RPCError) in
        var opening = try read()
        opening.prepare()
        return opening
      }
    } then: { connection, request, opening, shard in
      let revision = Result { () throws(RPCError) in
        if connection.life.isTimeUp { throw RPCError(.requestCancelled, "cancelled") }
        if connection.member.session.isEnded { throw RPCError(SessionError.expiredSession) }
        let opening = try opening.get()
        return try withExtendedLifetime(opening) { () throws(RPCError) in
          try connection.open(opening, shard)
        }
      }
      guard let address = request.address else { return }
      connection.writer.respond(to: address) { writer in
        switch revision {
        case .success(let revision):
          writer.result { Self.write(openedAt: revision, to: &$0) }
        case .failure(let error): writer.error(error)
        }
      }
    }
  }
}

extension StoreOpening {
  fileprivate init(_ params: StoreOpen.Params, of kinds: [StoreKind]) {
    self.init(
      params.store, kind: params.kind, configuration: params.config ?? .object([:]), of: kinds)
  }
}
