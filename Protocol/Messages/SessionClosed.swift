// SPDX-License-Identifier: Apache-2.0

/// Tells a frontend that it has lost its session.
///
/// - Shape: `{"session": String, "reason": Reason}`
public enum SessionClosed {
  public static let method: StaticString = "session/closed"

  public enum Reason: String, Codable, Sendable {
    /// Another frontend has ended it.
    case closed
    /// A newer connection has attached under the same name; this one is closed.
    case evicted
  }
}

/// Tells the other frontends of a session that one has come, gone or changed its role.
///
/// - Shape: `{"frontend": String | null, "change": Change, "role": Role, "attached": Int}`;
///   `attached` is how many there are now.
public enum SessionPresence {
  public static let method: StaticString = "session/presence"

  public enum Change: String, Codable, Sendable {
    case attached
    case detached
    case role
  }
}
