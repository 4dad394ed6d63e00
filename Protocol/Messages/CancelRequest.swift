// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Cancels the effects of the latest request with an id; usually sent as a notification.
///
/// If that request has not been answered yet, its answer is -32800. An id that is not known, or
/// whose effects have ended, is no error.
public enum CancelRequest {
  public static let method: StaticString = "$/cancelRequest"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Cancels the effects of the latest request with an id; often a notification.",
      params: Params.self)
  }

  /// - Shape: `{"id": String | Number}`
  public struct Params: Codable, Sendable {
    public var id: JSONValue
  }
}

extension CancelRequest.Params: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([.member("id", JSONSchema(["type": ["string", "number"]]))])
  }
}
