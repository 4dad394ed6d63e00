// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The id of a running effect within its store, to cancel or replace the effect.
///
/// Ids are equal if their UTF-8 bytes are equal: they may contain ids that a client sends.
public struct EffectID: Hashable, Sendable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  /// The text of the id.
  public let description: String
  /// Creates an id from a text.
  public init(_ name: String) { description = name }
  /// Creates an id from a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// Compares the UTF-8 bytes of two ids.
  public static func == (one: EffectID, other: EffectID) -> Bool {
    one.description.hasSameBytes(as: other.description)
  }

  /// Hashes the UTF-8 bytes of the id.
  public func hash(into hasher: inout Hasher) {
    description.withUTF8Bytes { hasher.combine(bytes: $0) }
  }
}
