// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Answers with the current state, and from then on sends `store/changed`.
///
/// Subscribing again changes the format.
public enum StoreSubscribe {
  public static let method: StaticString = "store/subscribe"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Answers with the current state, and from then on sends what changes.",
      params: Params.self, result: Result.self, errors: RPCErrorCode.ofStoreMethods)
  }

  /// - Shape: `{"store": String, "format"?: "patch" | "state"}`
  public struct Params: Codable, Sendable {
    public var store: String
    /// Absent: `patch`.
    public var format: FrameFormat?
  }

  /// - Shape: `{"revision": Int, "state": any}`
  public enum Result: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("state", .viewState),
      ])
    }
  }
}

/// How a change is told.
public enum FrameFormat: String, Codable, Sendable {
  /// As the RFC 6902 operations that lead to the new state.
  case patch
  /// As the whole new state.
  case state
}
