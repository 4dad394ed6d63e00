// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Tells a subscriber what has changed.
///
/// `base` is the revision of the frame before. `applied` is the id of the latest request of this
/// connection whose immediate actions the frame contains.
public enum StoreChanged {
  public static let method: StaticString = "store/changed"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells a subscriber what has changed.", params: Params.self)
  }

  /// - Shape: `{"store": String, "base": Int, "revision": Int, "patch": [Operation],
  ///   "applied": id | null}`, or `"state"` in place of `"patch"`.
  public enum Params: JSONDescribed {
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
