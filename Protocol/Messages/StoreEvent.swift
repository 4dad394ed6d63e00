// SPDX-License-Identifier: Apache-2.0

/// Tells a subscriber that something happened once and is not state; it is never told again.
///
/// It comes after the change that the same action made, and before the answer to the input that
/// caused it at once.
///
/// - Shape: `{"store": String, "event": {"type": String, …}}`
public enum StoreEvent {
  public static let method: StaticString = "store/event"
}
