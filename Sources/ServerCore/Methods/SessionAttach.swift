// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `session/attach`
  func sessionAttach(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: SessionAttach.Params = try request.decode(limits: settings.limits)
    writer.willLeaveSession()
    let (member, resumption) = try refusing { () throws(SessionError) in
      try shard.attach(
        AttachRequest(
          handle: params.session, identity: identity?.name, frontend: params.frontend,
          role: params.role ?? .driver, revisions: params.revisions?.held ?? []),
        from: self.member)
    }
    self.member = member
    let (answers, sequence) = (resumption.stores.map(StoreAnswer.init), resumption.sequence)
    let expectedBytes = answers.reduce(0) { $0 + $1.expectedBytes }
    reply(to: request, expecting: expectedBytes, shard) { writer in
      writer.key("stores")
      writer.beginObject()
      for answer in answers { answer.write(to: &writer) }
      writer.endObject()
      writer.key("sequence")
      if let sequence { writer.value(sequence) } else { writer.null() }
    }
    for store in resumption.stores {
      guard case .replayed(let count, let attachment) = store.answer else { continue }
      attachment.replay(from: attachment.revision - count) {
        writer.write(update: $0, applied: [])
      }
    }
  }
}

/// What a frontend that has attached gets of one store, which can be written on any thread.
private struct StoreAnswer: Sendable {
  enum Content {
    case replayed(Int)
    case snapshot(Revision, JSONEncodedState, SessionAttach.SnapshotReason)
    case closed
  }

  let store: String
  let content: Content

  init(_ store: Resumption.Store) {
    self.store = store.name
    content =
      switch store.answer {
      case .replayed(let count, _): .replayed(count)
      case .snapshot(let reason, let attachment):
        .snapshot(attachment.revision, attachment.state, reason)
      case .closed: .closed
      }
  }

  /// - Units: bytes.
  var expectedBytes: Int {
    if case .snapshot(_, let state, _) = content { state.expectedBytes } else { 0 }
  }

  func write(to writer: inout JSONWriter) {
    writer.key(store)
    writer.beginObject()
    switch content {
    case .replayed(let count):
      writer.key("replayed")
      writer.value(count)
    case .snapshot(let revision, let state, let reason):
      writer.key("snapshot")
      writer.beginObject()
      writer.key("revision")
      writer.value(revision)
      writer.key("state")
      state.write(to: &writer)
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
