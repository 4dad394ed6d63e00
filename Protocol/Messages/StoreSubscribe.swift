// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Returns the current state and subscribes the connection to `store/changed`.
///
/// Subscribing again changes the format.
public enum StoreSubscribe {
  /// The name of the method.
  public static let method: StaticString = "store/subscribe"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Returns the current state and subscribes the connection to updates.",
      params: Params.self, result: Result.self, errors: RPCErrorCode.ofOpeningMethods)
  }

  /// The parameters of `store/subscribe`.
  ///
  /// - Shape: `{"store": String, "format"?: "patch" | "state"}`
  public struct Params: Codable, Sendable {
    /// The name of the store.
    public var store: String
    /// The format of updates; `patch` if absent.
    public var format: FrameFormat?
  }

  /// The result of `store/subscribe`.
  ///
  /// - Shape: `{"revision": Int, "state": any}`
  public enum Result: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("state", .viewState),
      ])
    }
  }
}

/// The format of a store's updates.
public enum FrameFormat: String, Codable, Sendable {
  /// RFC 6902 operations that change the previous state to the new state.
  case patch
  /// The whole new state.
  case state
}
