// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension Connection {
  /// `$/cancelRequest`
  func cancelRequest(_ params: CancelRequest.Params) throws(RPCError) -> MethodResult {
    switch params.id {
    case .string, .number:
      let id = params.id.jsonBytes().withUnsafeBytes { RequestID($0) }
      if let request = running.removeLatest(id) { cancel(request) }
    default:
      throw RPCError(
        invalidParams: JSONError(
          .type, "expected a string or a number", path: [.key("id")]))
    }
    return .empty
  }

  /// Cancels the effects of a request that is no longer among the running ones; its answer, if
  /// open, becomes -32800.
  func cancel(_ request: RunningRequest) {
    // First what that changes: whoever holds the answer holds the state.
    request.subscription.cancel(request.inputID)
    answerCancelled(request)
  }

  /// Answers a request that nobody waits for any more.
  func answerCancelled(_ request: RunningRequest) {
    if let address = request.address {
      writer.respond(to: address) { $0.error(RPCError(.requestCancelled, "cancelled")) }
    }
  }
}
