// SPDX-License-Identifier: Apache-2.0

internal import VersionedList

/// The participant that sends an input or views a state.
///
/// A class, so that passing it costs one pointer. It is immutable.
public final class Viewer: Sendable {
  /// The role of a participant.
  public enum Role: String, Codable, Sendable {
    /// A participant that may send inputs.
    case driver
    /// A participant that receives updates and may change nothing.
    case observer
  }

  /// The name of its token; nil on a server without tokens.
  public let identity: String?
  /// The frontend's name in the session; nil if it has none. A client chooses it freely, so it
  /// proves nothing.
  public let name: String?
  /// The role in the session.
  public let role: Role
  private let isServer: Bool

  /// Creates a viewer.
  public convenience init(identity: String? = nil, name: String? = nil, role: Role = .driver) {
    self.init(identity, name, role, isServer: false)
  }

  private init(_ identity: String?, _ name: String?, _ role: Role, isServer: Bool) {
    self.identity = identity
    self.name = name
    self.role = role
    self.isServer = isServer
  }

  /// The server itself: inputs of the program, of presence, of the lifecycle, and after a restart.
  /// No client is equal to it.
  public static let server = Viewer(nil, nil, .driver, isServer: true)
}

extension Viewer: Hashable {
  /// Returns true if identity, name and role are the same, and both or neither are the server. The
  /// texts are compared by bytes.
  public static func == (one: Viewer, other: Viewer) -> Bool {
    one.isServer == other.isServer && one.role == other.role
      && ByteString(one.identity) == ByteString(other.identity)
      && ByteString(one.name) == ByteString(other.name)
  }

  /// Hashes identity, name and role.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ByteString(identity))
    hasher.combine(ByteString(name))
    hasher.combine(role)
  }
}
