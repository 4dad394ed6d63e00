// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension Connection {
  /// Carries out `$/cancelRequest`; an unknown id is ignored.
  ///
  /// - Throws: `RPCError` -32602 if the id is neither a string nor a number.
  func cancelRequest(_ params: CancelRequest.Params) throws(RPCError) -> MethodResult {
    switch params.id {
    case .string, .number:
      let id = params.id.jsonBytes().withUnsafeBytes { RequestID($0) }
      if let request = running.cancelLatest(id) {
        cancel(request)
      } else {
        output.cancelEarlier(id)
      }
    default:
      throw RPCError(
        invalidParams: JSONError(
          .type, "expected a string or a number", path: [.key("id")]))
    }
    return .empty
  }

  /// Cancels the effects of a request that was removed from `running`. If its response is open, the
  /// client receives the error -32800.
  func cancel(_ request: RunningRequest) {
    // Effects first: the client receives their updates before the response.
    request.subscription.cancel(request.inputID)
    respondCancelled(request)
  }

  /// Responds -32800 to a request whose response is open.
  func respondCancelled(_ request: RunningRequest) {
    if let address = request.address {
      let error = RPCError(.requestCancelled, "cancelled")
      writer.count(error)
      writer.respond(to: address) { $0.error(error) }
    }
  }
}
