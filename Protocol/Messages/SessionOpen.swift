// SPDX-License-Identifier: Apache-2.0

/// Gives the connection's session a handle, with which it can outlive the connection.
///
/// A second request on the same connection returns the same handle.
public enum SessionOpen {
  /// The name of the method.
  public static let method: StaticString = "session/open"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Gives the connection's session a handle, with which it can outlive the connection.",
      params: Params.self, result: Result.self, errors: [.forbidden])
  }

  /// The parameters of `session/open`.
  ///
  /// - Shape: `{"frontend"?: String}`
  public struct Params: Codable, Sendable {
    /// The client's name in the session.
    public var frontend: String?
  }

  /// The result of `session/open`.
  ///
  /// - Shape: `{"session": String}`
  public struct Result: Codable, Sendable {
    /// The handle of the session: opaque, and infeasible to guess.
    public var session: String
  }
}
