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
      cancelLatest(RequestID(params.id))
    default:
      throw RPCError(
        invalidParams: JSONError(
          .type, "expected a string or a number", path: [.key("id")]))
    }
    return .empty
  }

  /// Cancels requests of this node that a message for another node names: their client has left the session
  /// since, and the other node does not know them.
  func cancelRequests(in message: UnsafeRawBufferPointer) {
    guard running.count > 0 || output.hasEarlier,
      let value = try? JSONValue(parsing: message)
    else { return }
    let method = JSONValue.string("\(CancelRequest.method)")
    for request in value.array ?? [value] where request["method"] == method {
      if let id = request["params"]?["id"] { cancelLatest(RequestID(id)) }
    }
  }

  private func cancelLatest(_ id: RequestID) {
    if let (request, address) = running.cancelLatest(id) {
      cancel(request, respondingTo: address)
    } else {
      output.cancelEarlier(id)
    }
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

extension RequestID {
  fileprivate init(_ value: JSONValue) {
    self = value.jsonBytes().withUnsafeBytes { RequestID($0) }
  }
}
