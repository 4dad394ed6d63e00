// SPDX-License-Identifier: Apache-2.0

/// Ends the subscription to a store's updates. Responds `{}`, also if there was no subscription.
public enum StoreUnsubscribe {
  /// The name of the method.
  public static let method: StaticString = "store/unsubscribe"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends the subscription to a store's updates.", params: Params.self,
      errors: RPCErrorCode.ofStoreMethods)
  }

  /// The parameters of `store/unsubscribe`.
  ///
  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    /// The name of the store.
    public var store: String
  }
}
