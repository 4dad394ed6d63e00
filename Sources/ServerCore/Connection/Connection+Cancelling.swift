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
      if let (request, address) = running.cancelLatest(id) {
        cancel(request, respondingTo: address)
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

  /// Cancels the effects of a request, and responds the error -32800 to its address, if there is one.
  func cancel(_ request: RunningRequest, respondingTo address: ReplyAddress?) {
    // Effects first: the client receives their updates before the response.
    request.subscription.cancel(request.inputID)
    respondCancelled(to: address)
  }

  /// Responds -32800 to an address; nothing if there is none.
  func respondCancelled(to address: ReplyAddress?) {
    guard let address else { return }
    let error = RPCError(.requestCancelled, "cancelled")
    writer.count(error)
    writer.respond(to: address) { $0.error(error) }
  }
}
