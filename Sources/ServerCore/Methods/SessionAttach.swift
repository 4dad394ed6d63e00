// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `session/attach`
  func sessionAttach(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: SessionAttach.Params = try request.decode(limits: settings.limits)
    let (member, resumption) = try refusing { () throws(SessionError) in
      try shard.attach(
        AttachRequest(
          handle: params.session, identity: identity?.name, frontend: params.frontend,
          role: params.role ?? .driver, revisions: params.revisions?.held ?? []),
        from: self.member)
    }
    self.member = member
    reply(to: request) { writer in
      writer.key("stores")
      writer.beginObject()
      for store in resumption.stores {
        writer.key(store.name)
        Self.write(store.answer, to: &writer)
      }
      writer.endObject()
      writer.key("sequence")
      if let sequence = resumption.sequence { writer.value(sequence) } else { writer.null() }
    }
    for store in resumption.stores {
      guard case .replayed(let count, let attachment) = store.answer else { continue }
      attachment.replay(from: attachment.revision - count) { write(changed: $0, applied: []) }
    }
  }

  private static func write(_ answer: Resumption.Answer, to writer: inout JSONWriter) {
    writer.beginObject()
    switch answer {
    case .replayed(let count, _):
      writer.key("replayed")
      writer.value(count)
    case .snapshot(let reason, let attachment):
      writer.key("snapshot")
      writer.beginObject()
      writer.key("revision")
      writer.value(attachment.revision)
      writer.key("state")
      attachment.writeState(to: &writer)
      writer.endObject()
      writer.key("reason")
      writer.value(reason.rawValue)
    case .closed:
      writer.key("closed")
      writer.value(StoreClosed.Reason.closed)
    }
    writer.endObject()
  }
}
