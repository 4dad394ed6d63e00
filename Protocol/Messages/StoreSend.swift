// SPDX-License-Identifier: Apache-2.0

/// Sends an input to a store.
///
/// Answered once the input is accepted and its immediate actions are folded; the frame that they
/// cause comes before the answer. With `settle`, answered once all its effects have ended.
public enum StoreSend {
  public static let method: StaticString = "store/send"

  /// - Shape: `{"revision": Int, "changed": Bool}`
  public struct Result: Codable, Sendable {
    /// The revision at the time of the answer.
    public var revision: Int
    /// Whether the revision is another than right before the input: with `settle`, what others have
    /// changed until the answer counts too.
    public var changed: Bool

    public init(revision: Int, changed: Bool) {
      self.revision = revision
      self.changed = changed
    }
  }
}
