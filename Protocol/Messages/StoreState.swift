// SPDX-License-Identifier: Apache-2.0

/// Answers with the current state.
///
/// - Shape of the result: `{"revision": Int, "state": any, "digest": Int}`; the digest is the
///   CRC-32 of the state in RFC 8785 form.
public enum StoreState {
  public static let method: StaticString = "store/state"

  /// - Shape: `{"store": String}`
  public struct Params: Codable, Sendable {
    public var store: String
  }
}
