// SPDX-License-Identifier: Apache-2.0

/// Gives the session of this connection a handle, by which it outlives the connection.
///
/// Once more on the same connection answers with the same handle.
public enum SessionOpen {
  public static let method: StaticString = "session/open"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Gives the session of this connection a handle, by which it outlives the connection.",
      params: Params.self, result: Result.self)
  }

  /// - Shape: `{"frontend"?: String}`
  public struct Params: Codable, Sendable {
    /// The frontend's name in the session.
    public var frontend: String?
  }

  /// - Shape: `{"session": String}`
  public struct Result: Codable, Sendable {
    /// Opaque, and not to be guessed.
    public var session: String
  }
}
