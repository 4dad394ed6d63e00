// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionOpen {
  /// Carries out `session/open`, after the journal was read.
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    // The journal may already contain the maximum number of sessions.
    guard shard.isReadingJournal else { return try openWhenFree(params, context, shard) }
    return .awaited { shard, read in
      shard.whenJournalIsRead(read)
    } _: { context, shard throws(RPCError) in
      try openWhenFree(params, context, shard)
    }
  }

  /// Opens the session, after another shard has ended one if that is necessary.
  private static func openWhenFree(
    _ params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let identity = context.identity?.name
    guard context.session.handle == nil, shard.mustWaitForPlace(of: identity) else {
      return try open(params, context, shard)
    }
    return .awaited { shard, freed in
      shard.whenPlaceIsFree(for: identity, freed)
    } _: { context, shard throws(RPCError) in
      try open(params, context, shard)
    }
  }

  private static func open(
    _ params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let participant =
      context.session.isEnded
      ? Participant(context.participant.client, isolation: shard) : context.participant
    let handle: SessionHandle
    do throws(SessionError) {
      handle = try participant.session.open(
        for: participant, named: params.frontend, identity: context.identity?.name, isolation: shard
      )
    } catch {
      // Without this, the session and its participant would keep each other in memory.
      if participant !== context.participant {
        participant.session.leave(participant, isolation: shard)
      }
      throw RPCError(error)
    }
    return .moved(
      to: participant,
      .members { writer in
        writer.key("session")
        writer.value(handle.description)
      })
  }
}

extension SessionDetach {
  /// Carries out `session/detach`.
  ///
  /// - Throws: `RPCError` -32012 if the session has no handle.
  static func respond(
    _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    guard context.session.handle != nil else {
      throw RPCError(
        .unknownSession,
        "the session of this connection has no handle and cannot be detached; call session/open first"
      )
    }
    return leave(context, shard)
  }

  /// Moves the client to a new session.
  fileprivate static func leave(
    _ context: MethodContext, _ shard: isolated Shard
  ) -> MethodResult {
    context.session.leave(context.participant, isolation: shard)
    return .moved(to: Participant(context.participant.client, isolation: shard), .empty)
  }
}

extension SessionClose {
  /// Carries out `session/close`.
  static func respond(
    _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    try context.drivenSession().close(by: context.participant, isolation: shard)
    return SessionDetach.leave(context, shard)
  }
}
