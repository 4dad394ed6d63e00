// SPDX-License-Identifier: Apache-2.0

/// Who a token speaks for: the name that stands before it in the token file.
///
/// Several tokens may have one name; whoever holds any of them is the same identity.
public struct Identity: Hashable, Sendable, CustomStringConvertible {
  /// Visible ASCII, so two names are the same if their characters are.
  public let name: String

  public init(_ name: String) { self.name = name }

  public var description: String { name }
}
