// SPDX-License-Identifier: Apache-2.0

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

  /// - Shape: `{"session": String | null, "frontend": String | null, "role": Role, "stores": [Store],
  ///   "frontends": [Frontend], "outlives": Number}`
  public struct Result: Codable, Sendable {
    /// The handle; nil if it has none.
    public var session: String?
    /// The name of the frontend that asks.
    public var frontend: String?
    public var role: FrontendRole
    public var stores: [Store]
    public var frontends: [Frontend]
    /// How long the session outlives its connections.
    public var outlives: Seconds
  }

  /// - Shape: `{"store": String, "kind": String, "revision": Int, "closed": Bool}`
  public struct Store: Codable, Sendable {
    public var store: String
    public var kind: String
    public var revision: Int
    public var closed: Bool
  }

  /// - Shape: `{"frontend": String | null, "role": Role, "phase": Phase, "self": Bool}`
  public struct Frontend: Codable, Sendable {
    public var frontend: String?
    public var role: FrontendRole
    public var phase: FrontendLifecycle.Phase
    /// Whether it is the one that asks.
    public var `self`: Bool
  }
}
