// SPDX-License-Identifier: Apache-2.0

/// Tells a frontend that it has lost its session.
public enum SessionClosed {
  public static let method: StaticString = "session/closed"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells a frontend that it has lost its session.", params: Params.self)
  }

  /// - Shape: `{"session": String, "reason": Reason}`
  public struct Params: Codable, Sendable {
    public var session: String
    public var reason: Reason
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

  /// - Shape: `{"frontend": String | null, "change": Change, "role": Role, "attached": Int}`
  public struct Params: Codable, Sendable {
    /// The name of the one that has changed.
    public var frontend: String?
    public var change: Change
    public var role: FrontendRole
    /// How many there are now.
    public var attached: Int
  }

  public enum Change: String, Codable, Sendable {
    case attached
    case detached
    case role
  }
}
