// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Cancels the effects of the latest request with an id; usually sent as a notification.
///
/// If the server has not responded to that request yet, its response is the error -32800. An
/// unknown id, or an id whose effects have ended, is not an error.
public enum CancelRequest {
  /// The name of the method.
  public static let method: StaticString = "$/cancelRequest"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Cancels the effects of the latest request with an id; usually a notification.",
      params: Params.self)
  }

  /// The parameters of `$/cancelRequest`.
  ///
  /// - Shape: `{"id": String | Number}`
  public struct Params: Codable, Sendable {
    /// The id of the request.
    public var id: JSONValue
  }
}

extension CancelRequest.Params: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([.member("id", JSONSchema(["type": ["string", "number"]]))])
  }
}
