// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `store/open`
  func storeOpen(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    // It may cost as much as many an input.
    try spendInput()
    let params: StoreOpen.Params = try request.read(limits: settings.limits)
    let session = try drivenSession()
    let revision = try refusing { () throws(SessionError) in
      try session.open(
        params.store, kind: params.kind, configuration: params.config ?? .object([:]),
        isolation: shard)
    }
    reply(to: request) { writer in
      writer.key("revision")
      writer.value(revision)
    }
  }
}
