// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Answers with the current state.
///
/// The digest is the CRC-32 of the state in RFC 8785 form.
public enum StoreState {
  public static let method: StaticString = "store/state"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Answers with the current state and its digest.", params: Params.self,
      result: Result.self, errors: RPCErrorCode.ofStoreMethods)
  }

  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    public var store: String
  }

  /// - Shape: `{"revision": Int, "state": any, "digest": Int}`
  public enum Result: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("state", .viewState),
        .member("digest", .integer(minimum: 0, maximum: Int(UInt32.max))),
      ])
    }
  }
}
