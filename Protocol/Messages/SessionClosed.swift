// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Tells a frontend that it has lost its session.
public enum SessionClosed {
  public static let method: StaticString = "session/closed"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells a frontend that it has lost its session.", params: Params.self)
  }

  /// - Shape: `{"session": String, "reason": Reason}`
  public enum Params: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("session", .string()),
        .member("reason", try schemas.schema(of: Reason.self)),
      ])
    }
  }

  public enum Reason: String, Codable, Sendable {
    /// Another frontend has ended it.
    case closed
    /// A newer connection has attached under the same name; this one is closed.
    case evicted
  }
}

/// Tells the other frontends of a session that one has come, gone or changed its role.
public enum SessionPresence {
  public static let method: StaticString = "session/presence"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells of another frontend that it has come, gone or changed its role.",
      params: Params.self)
  }

  /// `frontend` is the name of the one that has changed, `attached` how many there are now.
  ///
  /// - Shape: `{"frontend": String | null, "change": Change, "role": Role, "attached": Int}`
  public enum Params: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("frontend", JSONSchema.string().orNull),
        .member("change", try schemas.schema(of: Change.self)),
        .member("role", try schemas.schema(of: FrontendRole.self)),
        .member("attached", .integer(minimum: 0)),
      ])
    }
  }

  public enum Change: String, Codable, Sendable {
    case attached
    case detached
    case role
  }
}
