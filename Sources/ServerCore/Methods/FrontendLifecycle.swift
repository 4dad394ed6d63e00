// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol

extension FrontendLifecycle {
  /// Carries out `frontend/lifecycle`.
  static func respond(to params: Params, _ context: MethodContext) -> MethodResult {
    switch params.phase {
    case .active: context.participant.take(.active)
    case .inactive: context.participant.take(.inactive)
    }
    return .empty
  }
}
