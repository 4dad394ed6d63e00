// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Notifies a client that it has lost its session.
public enum SessionClosed {
  /// The name of the notification.
  public static let method: StaticString = "session/closed"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Notifies a client that it has lost its session.",
      params: Params.self)
  }

  /// The parameters of `session/closed`.
  ///
  /// - Shape: `{"session": String, "reason": Reason}`
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("session", .string()),
        .member("reason", try schemas.schema(of: Reason.self)),
      ])
    }
  }

  /// The reason why a client lost its session.
  public enum Reason: String, Codable, Sendable {
    /// Another client ended the session.
    case closed
    /// A newer connection attached under the same name; the server closes this connection.
    case evicted
  }
}

/// Notifies the other clients of a session that a client attached, detached, or changed its name or
/// role.
public enum SessionPresence {
  /// The name of the notification.
  public static let method: StaticString = "session/presence"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      notification: method,
      "Reports that another client attached, detached, or changed its name or role.",
      params: Params.self)
  }

  /// The parameters of `session/presence`. `frontend` is the name of the client that changed;
  /// `attached` is the number of attached clients after the change.
  ///
  /// - Shape: `{"frontend": String | null, "change": Change, "role": Role, "attached": Int}`
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("frontend", JSONSchema.string().orNull),
        .member("change", try schemas.schema(of: Change.self)),
        .member("role", try schemas.schema(of: FrontendRole.self)),
        .member("attached", .integer(minimum: 0)),
      ])
    }
  }

  /// The kind of change.
  public enum Change: String, Codable, Sendable {
    /// The client attached to the session.
    case attached
    /// The client detached from the session.
    case detached
    /// The name or the role of the client changed.
    case role
  }
}
