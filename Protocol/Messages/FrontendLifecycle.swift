// SPDX-License-Identifier: Apache-2.0

/// Says whether somebody looks at this frontend. A session is active while any of its frontends is,
/// and begins active; stores that care are told when that changes.
public enum FrontendLifecycle {
  public static let method: StaticString = "frontend/lifecycle"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Says whether somebody looks at this frontend.", params: Params.self,
      errors: RPCErrorCode.ofSessionMethods)
  }

  /// - Shape: `{"phase": "active" | "inactive"}`
  public struct Params: Codable, Sendable {
    public var phase: Phase
  }

  public enum Phase: String, Codable, Sendable {
    case active
    case inactive
  }
}
