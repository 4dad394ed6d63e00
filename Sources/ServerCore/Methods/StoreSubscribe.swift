// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `store/subscribe`
  func storeSubscribe(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: StoreSubscribe.Params = try request.decode(limits: settings.limits)
    let attachment = try attachment(params.store, shard)
    attachment.subscribe(params.format ?? .patch)
    let (state, revision) = (attachment.state, attachment.revision)
    reply(to: request, expecting: state.expectedBytes, shard) { writer in
      writer.key("revision")
      writer.value(revision)
      writer.key("state")
      state.write(to: &writer)
    }
  }

  /// `store/unsubscribe`
  func storeUnsubscribe(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: StoreUnsubscribe.Params = try request.decode(limits: settings.limits)
    try refusing { () throws(SessionError) in
      try member.unsubscribe(from: params.store, isolation: shard)
    }
    reply(to: request) { _ in }
  }
}
