// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Detaches the connection from its session, which continues to exist; the connection gets a new
/// session.
///
/// - Shape: no params; result `{}`
public enum SessionDetach {
  /// The name of the method.
  public static let method: StaticString = "session/detach"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Detaches the connection from its session, which continues to exist.",
      errors: RPCErrorCode.ofSessionMethods + [.unknownSession])
  }
}

/// Ends the session with all its stores, for all its clients.
///
/// - Shape: no params; result `{}`
public enum SessionClose {
  /// The name of the method.
  public static let method: StaticString = "session/close"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends the session with all its stores, for all its clients.",
      errors: RPCErrorCode.ofSessionMethods + [.observer])
  }
}

/// Returns the stores and the attached clients of the session.
public enum SessionInfo {
  /// The name of the method.
  public static let method: StaticString = "session/info"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Returns the stores and the attached clients of the session.", result: Result.self,
      errors: RPCErrorCode.ofSessionMethods)
  }

  /// The result of `session/info`. `session` is the handle and `frontend` the name of the
  /// requesting client. `outlives` is the time for which the session continues to exist without
  /// connections.
  ///
  /// - Shape: `{"session": String | null, "frontend": String | null, "role": Role, "stores":
  ///   [Store], "frontends": [Frontend], "outlives": Number}`
  /// - Units: `outlives` in seconds.
  public enum Result: JSONDescribed {
    /// Returns the JSON Schema of the type.
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

  /// A named store of the session.
  ///
  /// - Shape: `{"store": String, "kind": String, "revision": Int, "closed": Bool}`
  public enum Store: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("store", .string()),
        .member("kind", .string()),
        .member("revision", .integer(minimum: 0)),
        .member("closed", .boolean),
      ])
    }
  }

  /// An attached client. `self` is true for the requesting client.
  ///
  /// - Shape: `{"frontend": String | null, "role": Role, "phase": Phase, "self": Bool}`
  public enum Frontend: JSONDescribed {
    /// Returns the JSON Schema of the type.
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
