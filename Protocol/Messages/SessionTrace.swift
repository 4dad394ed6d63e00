// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Turns `session/traced` on or off: notifications about the activity of the session's stores.
public enum SessionTrace {
  /// The name of the method.
  public static let method: StaticString = "session/trace"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Turns notifications about the activity of the session's stores on or off.",
      params: Params.self, errors: RPCErrorCode.ofSessionMethods)
  }

  /// The parameters of `session/trace`.
  ///
  /// - Shape: `{"on": Bool}`
  public struct Params: Codable, Sendable {
    /// True to turn the notifications on.
    public var on: Bool
  }
}

/// One step of a store of the session. It contains names, and never the contents of inputs, actions
/// and states.
public enum SessionTraced {
  /// The name of the notification.
  public static let method: StaticString = "session/traced"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Reports one step of a store of the session.",
      params: Params.self)
  }

  /// The parameters of `session/traced`. `seq` counts from 1 each time the trace is turned on;
  /// `number` distinguishes the operations of one store and stage.
  ///
  /// - Shape: `{"seq": Int, "store": String, "stage": Stage, "operation": String, "number": Int,
  ///   "hook": Hook, "input": String | null, "action": String | null, "failed": Bool, "revision":
  ///   Int}`
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("seq", .integer(minimum: 1)),
        .member("store", .string()),
        .member("stage", try schemas.schema(of: Stage.self)),
        .member("operation", .string()),
        .member("number", .integer(minimum: 0)),
        .member("hook", try schemas.schema(of: Hook.self)),
        .member("input", JSONSchema.string().orNull),
        .member("action", JSONSchema.string().orNull),
        .member("failed", .boolean),
        .member("revision", .integer(minimum: 0)),
      ])
    }
  }

  /// The observed part of a store.
  ///
  /// - Shape: one of `names`.
  public enum Stage: JSONDescribed {
    /// The names on the wire.
    public static var names: [String] { ["input", "action", "state", "operation", "part"] }

    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema { .oneOf(names: names) }
  }

  /// The observed step.
  ///
  /// - Shape: one of `names`.
  public enum Hook: JSONDescribed {
    /// The names on the wire.
    public static var names: [String] {
      [
        "receiveSubscription", "receiveRequest", "receiveOutput", "receiveCompletion",
        "receiveCancel",
      ]
    }

    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema { .oneOf(names: names) }
  }
}
