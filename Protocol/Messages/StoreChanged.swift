// SPDX-License-Identifier: Apache-2.0

/// Tells a subscriber what has changed.
///
/// - Shape: `{"store": String, "base": Int, "revision": Int, "patch": [Operation],
///   "applied": id | null}`, or `"state"` in place of `"patch"`. `base` is the revision of the
///   frame before. `applied` is the id of the latest request of this connection whose immediate
///   actions the frame contains.
public enum StoreChanged {
  public static let method: StaticString = "store/changed"
}
