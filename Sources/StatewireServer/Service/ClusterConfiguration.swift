// SPDX-License-Identifier: Apache-2.0

public import PostgresConnections
public import Transports

/// The place of a server among several that share a database.
public struct ClusterConfiguration: Sendable {
  /// The address of the database.
  public var database: PostgresAddress
  /// The name of the server, unique among all with the same database.
  public var name: String
  /// The address at which the other servers reach this one: TCP or TLS.
  public var address: ServerAddress
  /// The time after which other servers continue the sessions of one that has died.
  public var lease = Duration.seconds(5)
  /// The path of a file with the secret of all servers; nil for the secret in the database.
  public var secretFile: String?
  /// The path of the authorities of the certificates of other servers, in PEM; nil for those of the
  /// system.
  public var authority: String?
  /// True if other machines are reached without TLS.
  public var isInsecure = false

  /// Creates a configuration.
  public init(database: PostgresAddress, name: String, address: ServerAddress) {
    (self.database, self.name, self.address) = (database, name, address)
  }
}
