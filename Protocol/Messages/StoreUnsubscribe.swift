// SPDX-License-Identifier: Apache-2.0

/// Ends the `store/changed` notifications of a store. Answers `{}`, also if there were none.
public enum StoreUnsubscribe {
  public static let method: StaticString = "store/unsubscribe"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Sends no more of what changes.", params: Params.self,
      errors: RPCErrorCode.ofStoreMethods)
  }

  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    public var store: String
  }
}
