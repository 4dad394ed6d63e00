// SPDX-License-Identifier: Apache-2.0

/// Reports whether this frontend is active.
///
/// A session is active while any of its frontends is active, and starts active. Stores that depend
/// on this are notified when it changes.
public enum FrontendLifecycle {
  /// The name of the method.
  public static let method: StaticString = "frontend/lifecycle"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Reports whether this frontend is active.", params: Params.self,
      errors: RPCErrorCode.ofSessionMethods)
  }

  /// The parameters of `frontend/lifecycle`.
  ///
  /// - Shape: `{"phase": "active" | "inactive"}`
  public struct Params: Codable, Sendable {
    /// The new phase of the frontend.
    public var phase: Phase
  }

  /// The phase of a frontend.
  public enum Phase: String, Codable, Sendable {
    /// The frontend is visible to its user.
    case active
    /// The frontend is not visible to its user.
    case inactive
  }
}
