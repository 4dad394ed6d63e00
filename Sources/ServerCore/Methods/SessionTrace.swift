// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionTrace {
  /// Carries out `session/trace`.
  static func respond(to params: Params, _ context: MethodContext) -> MethodResult {
    context.session.trace(params.on ? context.participant.client : nil)
    return .empty
  }
}
