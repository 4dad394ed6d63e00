// SPDX-License-Identifier: Apache-2.0

/// Ends a store: its effects are cancelled, its subscribers get `store/closed`. Answers `{}`.
public enum StoreClose {
  public static let method: StaticString = "store/close"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends a store: its effects are cancelled, its subscribers are told.",
      params: Params.self, errors: RPCErrorCode.ofStoreMethods)
  }

  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    public var store: String
  }
}
