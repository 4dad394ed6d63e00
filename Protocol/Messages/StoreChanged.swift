// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Reports an update of a store to a subscriber.
///
/// `base` is the revision of the previous update. `applied` is the id of the latest request of this
/// connection whose immediate actions the update contains.
public enum StoreChanged {
  /// The name of the notification.
  public static let method: StaticString = "store/changed"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Reports an update of a store to a subscriber.", params: Params.self)
  }

  /// The parameters of `store/changed`.
  ///
  /// - Shape: `{"store": String, "base": Int, "revision": Int, "patch": [Operation],
  ///   "applied": id | null}`, or `"state"` in place of `"patch"`.
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      let patch = JSONSchema.Member.member("patch", try schemas.schema(of: JSONPatch.self))
      return .oneOf([
        frame(with: patch).titled("StoreChangedPatch"),
        frame(with: .member("state", .anything)).titled("StoreChangedState"),
      ])
    }

    private static func frame(with change: JSONSchema.Member) -> JSONSchema {
      .object([
        .member("store", .string()), .member("base", .integer(minimum: 0)),
        .member("revision", .integer(minimum: 0)), change,
        .member("applied", JSONSchema(["type": ["string", "number", "null"]])),
      ])
    }
  }
}
