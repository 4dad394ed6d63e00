// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol

extension Connection {
  /// `frontend/lifecycle`
  func frontendLifecycle(_ request: Request) throws(RPCError) {
    let params: FrontendLifecycle.Params = try request.decode(limits: settings.limits)
    switch params.phase {
    case .active: member.take(.active)
    case .inactive: member.take(.inactive)
    }
    reply(to: request) { _ in }
  }
}
