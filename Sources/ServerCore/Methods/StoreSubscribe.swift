// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `store/subscribe`
  func storeSubscribe(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: StoreSubscribe.Params = try request.decode(limits: settings.limits)
    let attachment = try attachment(params.store, shard)
    attachment.subscribe(params.format ?? .patch)
    reply(to: request) { writer in
      writer.key("revision")
      writer.value(attachment.revision)
      writer.key("state")
      attachment.writeState(to: &writer)
    }
  }

  /// `store/unsubscribe`
  func storeUnsubscribe(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: StoreUnsubscribe.Params = try request.decode(limits: settings.limits)
    try attachment(params.store, shard).unsubscribe()
    reply(to: request) { _ in }
  }
}
