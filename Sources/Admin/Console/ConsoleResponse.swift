// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import StatewireJSON
internal import Transports

/// A response of the console's interface before it is encoded.
enum ConsoleResponse: Sendable {
  /// A JSON object.
  case value(JSONValue)
  /// An error, with the reason as one sentence for the operator.
  case error(Status, String)

  /// The response to a request for a session that is not loaded.
  static let noSession = ConsoleResponse.error(
    .notFound, "the session has ended, or sleeps until a client attaches")

  /// The response to a request without a valid token.
  static let unauthorised = ConsoleResponse.error(.unauthorised, AdminAccess.reason)

  /// The response over HTTP.
  var web: WebResponse {
    switch self {
    case .value(let value): return WebResponse(json: value.bytes, .ok)
    case .error(let status, let sentence):
      var response = WebResponse(
        json: JSONValue.object(["error": .string(sentence)]).bytes, status)
      if case .unauthorised = status { response.fields.append(AdminAccess.challenge) }
      return response
    }
  }
}

extension WebResponse {
  fileprivate init(json: [UInt8], _ status: Status) {
    self.init(status, "")
    fields = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    body = ByteBuffer(bytes: json)
  }
}
