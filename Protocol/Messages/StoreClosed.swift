// SPDX-License-Identifier: Apache-2.0

/// Tells a subscriber that a store is gone.
public enum StoreClosed {
  public static let method: StaticString = "store/closed"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells a subscriber that a store is gone.", params: Params.self)
  }

  /// - Shape: `{"store": String, "reason": Reason}`
  public struct Params: Codable, Sendable {
    public var store: String
    public var reason: Reason
  }

  public enum Reason: String, CaseIterable, Codable, Sendable {
    /// Somebody has closed it.
    case closed
  }
}
