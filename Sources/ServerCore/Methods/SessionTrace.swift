// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `session/trace`
  func sessionTrace(_ request: Request) throws(RPCError) {
    let params: SessionTrace.Params = try request.decode(limits: settings.limits)
    member.session.trace(params.on ? writer : nil)
    reply(to: request) { _ in }
  }
}
