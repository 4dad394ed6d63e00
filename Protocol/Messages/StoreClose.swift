// SPDX-License-Identifier: Apache-2.0

/// Ends a store: its effects are cancelled and its subscribers get `store/closed`. Responds `{}`.
public enum StoreClose {
  /// The name of the method.
  public static let method: StaticString = "store/close"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends a store: its effects are cancelled and its subscribers are notified.",
      params: Params.self, errors: RPCErrorCode.ofStoreMethods + [.observer])
  }

  /// The parameters of `store/close`.
  ///
  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    /// The name of the store.
    public var store: String
  }
}
