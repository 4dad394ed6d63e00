// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionOpen {
  /// `session/open`
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    // There may be as many sessions already as there may be.
    guard shard.isReadingJournal else { return try open(params, context, shard) }
    return .awaited { shard, read in
      shard.whenJournalIsRead(read)
    } _: { context, shard throws(RPCError) in
      try open(params, context, shard)
    }
  }

  private static func open(
    _ params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let member =
      context.session.isEnded
      ? Member(context.member.client, isolation: shard) : context.member
    let handle = try refusing { () throws(SessionError) in
      try member.session.open(
        for: member, named: params.frontend, identity: context.identity?.name, isolation: shard)
    }
    return .moved(
      to: member,
      .members { writer in
        writer.key("session")
        writer.value(handle.description)
      })
  }
}

extension SessionDetach {
  /// `session/detach`
  static func respond(
    _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    guard context.session.handle != nil else {
      throw RPCError(
        .unknownSession, "this connection's session has no handle, so it cannot live on")
    }
    return leave(context, shard)
  }

  /// Continues in a new session.
  fileprivate static func leave(
    _ context: MethodContext, _ shard: isolated Shard
  ) -> MethodResult {
    context.session.leave(context.member, isolation: shard)
    return .moved(to: Member(context.member.client, isolation: shard), .empty)
  }
}

extension SessionClose {
  /// `session/close`
  static func respond(
    _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    try context.drivenSession().close(by: context.member, isolation: shard)
    return SessionDetach.leave(context, shard)
  }
}
