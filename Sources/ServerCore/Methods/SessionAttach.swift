// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionAttach {
  /// Carries out `session/attach`, after the session was loaded from the journal if necessary.
  static func respond(
    to request: Request, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let params: Params = try request.decode(limits: context.settings.limits)
    if let owner = shard.otherOwner(of: params.session) { return .onShard(owner) }
    guard shard.mustLoad(params.session) else {
      return try attach(params, context, shard)
    }
    let text = Array(request.text)
    return .awaited { shard, loaded in
      shard.whenLoaded(params.session, loaded)
    } _: { context, shard throws(RPCError) in
      switch shard.placeElsewhere(of: params.session) {
      case nil: return try attach(params, context, shard)
      case .node(let node): return .onNode(node, text: text)
      case .unknown:
        throw RPCError(
          .internalError, "the session database does not respond; attach again later")
      case .unreadable:
        throw RPCError(
          .internalError,
          "this node cannot read the session; a newer version of the program may have written it")
      }
    }
  }

  private static func attach(
    _ params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    var attaching = AttachRequest(
      handle: params.session, identity: context.identity?.name, frontend: params.frontend,
      role: params.role ?? .driver, revisions: params.revisions?.held ?? [])
    attaching.evicts = context.evicts
    let (participant, resumption) = try refusing { () throws(SessionError) in
      try shard.attach(attaching, from: context.participant)
    }
    let (responses, sequence) = (
      resumption.stores.map(StoreResponse.init), resumption.sequence
    )
    let expectedBytes = responses.reduce(0) { $0 + $1.expectedBytes }
    let result = MethodResult.large(expectedBytes: expectedBytes) { writer in
      writer.key("stores")
      writer.beginObject()
      for response in responses { response.write(to: &writer) }
      writer.endObject()
      writer.key("sequence")
      if let sequence { writer.value(sequence) } else { writer.null() }
    }
    let replays = resumption.stores.compactMap { store in
      if case .replayed(let count, let subscription) = store.outcome {
        (subscription: subscription, from: subscription.revision - count)
      } else {
        nil
      }
    }
    return .moved(to: participant, .replayed(replays, after: result))
  }
}

/// The part of the response for one store; it can be written on any thread.
private struct StoreResponse: Sendable {
  enum Content {
    case replayed(Int)
    case snapshot(Revision, JSONEncodedState, SessionAttach.SnapshotReason)
    case closed
  }

  let store: String
  let content: Content
  let cause: SessionAttach.ReopeningCause?
  let keptAside: Resumption.KeptAside?

  init(_ store: Resumption.Store) {
    self.store = store.name
    (cause, keptAside) = (store.cause, store.keptAside)
    content =
      switch store.outcome {
      case .replayed(let count, _): .replayed(count)
      case .snapshot(let reason, let subscription):
        .snapshot(subscription.revision, subscription.state, reason)
      case .closed: .closed
      }
  }

  /// The expected length, in bytes.
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
    if let cause {
      writer.key("cause")
      writer.value(cause.rawValue)
    }
    if let keptAside {
      writer.key("keptAside")
      writer.beginObject()
      writer.key("revision")
      writer.value(keptAside.revision)
      writer.key("reason")
      writer.value(keptAside.reason)
      writer.endObject()
    }
    writer.endObject()
  }
}
