// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension TestInjectFault {
  /// Carries out `test/injectFault`.
  ///
  /// - Throws: `RPCError` -32601 unless the server was started with `--test`.
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let testing = try shard.testMode
    let times = params.times ?? 1
    guard times > 0 else {
      throw RPCError(
        invalidParams: JSONError(.value, "times must be at least 1", path: [.key("times")]))
    }
    let session = try context.drivenSession()
    let faults = try refusing { () throws(SessionError) in
      try session.faults(of: params.store, isolation: shard)
    }
    let fault = storeFault(params.fault)
    if let faults {
      faults.inject(fault, into: params.operation, times: times)
      if fault == .dropConnection {
        let (clients, client) = (shard.clients, context.participant.client)
        testing.whenDropped(by: faults) { clients[client]?.disconnect() }
      }
    }
    return .empty
  }
}

private func storeFault(_ fault: TestInjectFault.Fault) -> Fault {
  switch fault {
  case .fail: .fail
  case .delay(let seconds): .delay(seconds.duration)
  case .hang: .hang
  case .dropConnection: .dropConnection
  }
}
