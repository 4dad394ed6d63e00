// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Tells a subscriber that something happened once and is not state; it is never told again.
///
/// It comes after the change that the same action made, and before the answer to the input that
/// caused it at once.
public enum StoreEvent {
  public static let method: StaticString = "store/event"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells a subscriber that something happened once and is not state.",
      params: Params.self)
  }

  /// - Shape: `{"store": String, "event": any}`
  public enum Params: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("store", .string()),
        .member(
          "event", JSONSchema.anything.described("An event of the store's kind: see x-stores.")),
      ])
    }
  }
}
