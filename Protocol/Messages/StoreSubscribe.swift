// SPDX-License-Identifier: Apache-2.0

/// Answers with the current state, and from then on sends `store/changed`.
///
/// Subscribing again changes the format.
public enum StoreSubscribe {
  public static let method: StaticString = "store/subscribe"

  /// - Shape: `{"store": String, "format"?: "patch" | "state"}`
  public struct Params: Codable, Sendable {
    public var store: String
    /// Absent: `patch`.
    public var format: FrameFormat?
  }
}

/// How a change is told.
public enum FrameFormat: String, Codable, Sendable {
  /// As the RFC 6902 operations that lead to the new state.
  case patch
  /// As the whole new state.
  case state
}
