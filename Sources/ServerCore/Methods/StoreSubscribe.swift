// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension StoreSubscribe {
  /// Carries out `store/subscribe`.
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let subscription = try context.subscription(params.store, shard)
    try refusing { () throws(SessionError) in try subscription.check(.subscribe) }
    subscription.subscribe(params.format ?? .patch)
    context.participant.remember(subscription)
    let (state, revision) = (subscription.state, subscription.revision)
    return .large(expectedBytes: state.expectedBytes) { writer in
      writer.key("revision")
      writer.value(revision)
      writer.key("state")
      state.write(to: &writer)
    }
  }
}

extension StoreUnsubscribe {
  /// Carries out `store/unsubscribe`.
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    try refusing { () throws(SessionError) in
      try context.participant.unsubscribe(from: params.store, isolation: shard)
    }
    return .empty
  }
}
