// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Notifies a subscriber that a store was closed.
public enum StoreClosed {
  /// The name of the notification.
  public static let method: StaticString = "store/closed"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Notifies a subscriber that a store was closed.", params: Params.self)
  }

  /// The parameters of `store/closed`.
  ///
  /// - Shape: `{"store": String, "reason": Reason}`
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("store", .string()),
        .member("reason", try schemas.schema(of: Reason.self)),
      ])
    }
  }

  /// The reason why the store was closed: a client closed it.
  public enum Reason: JSONDescribed {
    /// The reason for a store that a client closed.
    public static var closed: String { "closed" }
    /// The names on the wire.
    public static var names: [String] { [closed] }

    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema { .oneOf(names: names) }
  }
}
