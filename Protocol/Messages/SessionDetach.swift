// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Leaves the session, which lives on; the connection goes on with a new one of its own.
///
/// - Shape: no params; result `{}`
public enum SessionDetach {
  public static let method: StaticString = "session/detach"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Leaves the session, which lives on.",
      errors: RPCErrorCode.ofSessionMethods + [.unknownSession])
  }
}

/// Ends the session with all its stores, for all its frontends.
///
/// - Shape: no params; result `{}`
public enum SessionClose {
  public static let method: StaticString = "session/close"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends the session with all its stores, for all its frontends.",
      errors: RPCErrorCode.ofSessionMethods + [.observer])
  }
}

/// Tells what is in the session and who is attached.
public enum SessionInfo {
  public static let method: StaticString = "session/info"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Tells what is in the session and who is attached.", result: Result.self,
      errors: RPCErrorCode.ofSessionMethods)
  }

  /// `session` is the handle, `frontend` the name of the one that asks. `outlives` is how long the
  /// session outlives its connections.
  ///
  /// - Shape: `{"session": String | null, "frontend": String | null, "role": Role, "stores": [Store],
  ///   "frontends": [Frontend], "outlives": Number}`
  public enum Result: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("session", JSONSchema.string().orNull),
        .member("frontend", JSONSchema.string().orNull),
        .member("role", try schemas.schema(of: FrontendRole.self)),
        .member("stores", .array(of: try schemas.schema(of: Store.self))),
        .member("frontends", .array(of: try schemas.schema(of: Frontend.self))),
        .member("outlives", try schemas.schema(of: Seconds.self)),
      ])
    }
  }

  /// - Shape: `{"store": String, "kind": String, "revision": Int, "closed": Bool}`
  public enum Store: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("store", .string()),
        .member("kind", .string()),
        .member("revision", .integer(minimum: 0)),
        .member("closed", .boolean),
      ])
    }
  }

  /// `self` is whether it is the one that asks.
  ///
  /// - Shape: `{"frontend": String | null, "role": Role, "phase": Phase, "self": Bool}`
  public enum Frontend: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("frontend", JSONSchema.string().orNull),
        .member("role", try schemas.schema(of: FrontendRole.self)),
        .member("phase", try schemas.schema(of: FrontendLifecycle.Phase.self)),
        .member("self", .boolean),
      ])
    }
  }
}
