// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Turns on or off `session/traced`, notifications about all that goes on in the session's stores.
public enum SessionTrace {
  public static let method: StaticString = "session/trace"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Turns on or off notifications about all that goes on in the session's stores.",
      params: Params.self, errors: RPCErrorCode.ofSessionMethods)
  }

  /// - Shape: `{"on": Bool}`
  public struct Params: Codable, Sendable {
    public var on: Bool
  }
}

/// One thing that went on in a store of the session: names, and never what inputs, actions and
/// states carry.
public enum SessionTraced {
  public static let method: StaticString = "session/traced"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells one thing that went on in a store of the session.",
      params: Params.self)
  }

  /// `seq` counts from 1 for each time that the trace is turned on; `number` tells operations of one
  /// store and stage apart.
  ///
  /// - Shape: `{"seq": Int, "store": String, "stage": Stage, "operation": String, "number": Int,
  ///   "hook": Hook, "input": String | null, "action": String | null, "failed": Bool,
  ///   "revision": Int}`
  public enum Params: JSONDescribed {
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

  /// What is observed.
  public enum Stage: JSONDescribed {
    public static var names: [String] { ["input", "action", "state", "operation", "part"] }

    public static func schema(in schemas: JSONSchemas) -> JSONSchema { .oneOf(names: names) }
  }

  /// What is told of it.
  public enum Hook: JSONDescribed {
    public static var names: [String] {
      [
        "receiveSubscription", "receiveRequest", "receiveOutput", "receiveCompletion",
        "receiveCancel",
      ]
    }

    public static func schema(in schemas: JSONSchemas) -> JSONSchema { .oneOf(names: names) }
  }
}
