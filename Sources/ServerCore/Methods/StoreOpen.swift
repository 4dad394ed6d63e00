// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension StoreOpen {
  /// Carries out `store/open`.
  ///
  /// Another thread reads a large request and prepares a store that takes long to open.
  static func respond(
    to request: Request, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let (limits, kinds) = (context.settings.limits, shard.kinds)
    // Under test nothing is offloaded: output must not depend on time.
    let mayOffload = shard.testing == nil
    let opener = (context.participant.viewer, context.session.clock)
    if mayOffload, request.text.count > largeRequestBytes, let text = try request.namedParams() {
      let copy = Array(text)
      return offloaded(keptBytes: copy.count, opener) { () throws(RPCError) in
        let params: Params = try copy.withRawBytes { text throws(RPCError) in
          try Request.read(text, limits: limits)
        }
        return StoreOpening(params, of: kinds)
      }
    }
    let opening = StoreOpening(try request.read(limits: limits), of: kinds)
    if mayOffload || opening.isUnprepared,
      try context.drivenSession().mayPrepare(opening, isolation: shard)
    {
      return offloaded(keptBytes: 0, opener) { opening }
    }
    return try open(opening, context, shard)
  }

  // Reading so many bytes may take a millisecond.
  private static var largeRequestBytes: Int { 32 << 10 }

  private static func open(
    _ opening: StoreOpening, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let session = try context.drivenSession()
    let revision = try refusing { () throws(SessionError) in
      try session.open(opening, by: context.participant.viewer, isolation: shard)
    }
    return .members { writer in
      writer.key("revision")
      writer.value(revision)
    }
  }

  private static func offloaded(
    keptBytes: Int, _ opener: (viewer: Viewer, clock: any StoreClock),
    _ read: @escaping @Sendable () throws(RPCError) -> StoreOpening
  ) -> MethodResult {
    .offloaded(keptBytes: keptBytes) {
      let prepared: Swift.Result<StoreOpening, RPCError>
      do throws(RPCError) {
        var opening = try read()
        await opening.prepare(for: opener.viewer, at: opener.clock)
        prepared = .success(opening)
      } catch {
        prepared = .failure(error)
      }
      return { context, shard throws(RPCError) in
        if context.session.isEnded { throw RPCError(SessionError.expiredSession) }
        let opening = try prepared.get()
        return try withExtendedLifetime(opening) { () throws(RPCError) in
          try open(opening, context, shard)
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
