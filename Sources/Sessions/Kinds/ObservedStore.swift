// SPDX-License-Identifier: Apache-2.0

/// A store as its observers know it.
public struct ObservedStore: Sendable, Hashable {
  /// The name of the store in its session.
  public let name: String
  /// The name of its kind.
  public let kind: String
  /// The first digits of the session's handle; nil if the session had none when the store was opened.
  public let session: String?

  /// Creates a description.
  public init(_ name: String, kind: String, session: String? = nil) {
    (self.name, self.kind, self.session) = (name, kind, session)
  }
}
