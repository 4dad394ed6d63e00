// SPDX-License-Identifier: Apache-2.0

/// The identity of a client: the name before its token in the token file.
///
/// Several tokens may have the same name. Clients that send any of them have the same identity.
public struct Identity: Hashable, Sendable, CustomStringConvertible {
  /// The name, in visible ASCII; names are compared by bytes.
  public let name: String

  /// Creates an identity with a name, which is not checked here.
  public init(_ name: String) { self.name = name }

  /// The name.
  public var description: String { name }
}
