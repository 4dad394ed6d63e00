// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `session/open`
  func sessionOpen(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    // It takes a place that is there for all.
    try spendInput()
    let params: SessionOpen.Params = try request.decode(limits: settings.limits)
    if member.session.isEnded { member = Member(writer, isolation: shard) }
    let handle = try refusing { () throws(SessionError) in
      try member.session.open(
        for: member, named: params.frontend, identity: identity?.name, isolation: shard)
    }
    reply(to: request) { writer in
      writer.key("session")
      writer.value(handle.description)
    }
  }

  /// `session/detach`
  func sessionDetach(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    _ = try request.namedParams()
    guard member.session.handle != nil else {
      throw RPCError(
        .unknownSession, "this connection's session has no handle, so it cannot live on")
    }
    leaveSession(shard)
    reply(to: request) { _ in }
  }

  /// `session/close`
  func sessionClose(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    _ = try request.namedParams()
    try drivenSession().close(by: member, isolation: shard)
    leaveSession(shard)
    reply(to: request) { _ in }
  }

  /// Goes on in a new session.
  private func leaveSession(_ shard: isolated Shard) {
    writer.willLeaveSession()
    member.session.leave(member, isolation: shard)
    member = Member(writer, isolation: shard)
  }
}
