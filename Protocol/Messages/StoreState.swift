// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Returns the current state and its digest.
///
/// The digest is the CRC-32 of the state in RFC 8785 form.
public enum StoreState {
  /// The name of the method.
  public static let method: StaticString = "store/state"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Returns the current state and its digest.", params: Params.self,
      result: Result.self, errors: RPCErrorCode.ofOpeningMethods)
  }

  /// The parameters of `store/state`.
  ///
  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    /// The name of the store.
    public var store: String
  }

  /// The result of `store/state`.
  ///
  /// - Shape: `{"revision": Int, "state": any, "digest": Int}`
  public enum Result: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("state", .viewState),
        .member("digest", .integer(minimum: 0, maximum: Int(UInt32.max))),
      ])
    }
  }
}
