// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol

extension Connection {
  /// `store/close`
  func storeClose(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: StoreClose.Params = try request.decode(limits: settings.limits)
    let session = try drivenSession()
    try refusing { () throws(SessionError) in try session.close(params.store, isolation: shard) }
    reply(to: request) { _ in }
  }
}
