// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Reports an event of a store, which is not part of its state, to a subscriber. An event is never
/// sent again.
///
/// The server sends it after the update of the same action, and before the response to the input
/// that caused it immediately.
public enum StoreEvent {
  /// The name of the notification.
  public static let method: StaticString = "store/event"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      notification: method,
      "Reports an event of a store, which is not part of its state, to a subscriber.",
      params: Params.self)
  }

  /// The parameters of `store/event`.
  ///
  /// - Shape: `{"store": String, "event": any}`
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("store", .string()),
        .member(
          "event", JSONSchema.anything.described("An event of the store's kind: see x-stores.")),
      ])
    }
  }
}
