// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Tells a subscriber that a store is gone.
public enum StoreClosed {
  public static let method: StaticString = "store/closed"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells a subscriber that a store is gone.", params: Params.self)
  }

  /// - Shape: `{"store": String, "reason": Reason}`
  public enum Params: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("store", .string()),
        .member("reason", try schemas.schema(of: Reason.self)),
      ])
    }
  }

  /// Why it is gone: somebody has closed it.
  public enum Reason: JSONDescribed {
    public static var closed: String { "closed" }
    public static var names: [String] { [closed] }

    public static func schema(in schemas: JSONSchemas) -> JSONSchema { .oneOf(names: names) }
  }
}
