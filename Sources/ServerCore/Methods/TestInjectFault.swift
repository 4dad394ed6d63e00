// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension Connection {
  /// `test/injectFault`
  func testInjectFault(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let testing = try testMode(shard)
    let params: TestInjectFault.Params = try request.decode(limits: settings.limits)
    let times = params.times ?? 1
    guard times > 0 else {
      throw RPCError(invalidParams: JSONError(.value, "times is at least 1", path: [.key("times")]))
    }
    let session = try drivenSession()
    let faults = try refusing { () throws(SessionError) in
      try session.faults(of: params.store, isolation: shard)
    }
    let fault: Fault =
      switch params.fault {
      case .fail: .fail
      case .delay(let seconds): .delay(seconds.duration)
      case .hang: .hang
      case .dropConnection: .dropConnection
      }
    if let faults {
      faults.inject(fault, into: params.operation, times: times)
      if fault == .dropConnection {
        testing.whenDropped(by: faults) { [weak self] in self?.writer.cut() }
      }
    }
    reply(to: request) { _ in }
  }
}
