// SPDX-License-Identifier: Apache-2.0

/// Tells a subscriber that a store is gone.
///
/// - Shape: `{"store": String, "reason": String}`; the reason is `closed`.
public enum StoreClosed {
  public static let method: StaticString = "store/closed"
}
