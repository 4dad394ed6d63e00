// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PostgresConnections
internal import Transports

extension ServeOptions {
  /// The environment variable with the URL of the database.
  static let databaseVariable = "STATEWIRE_DATABASE"

  /// Returns the place among other servers; nil without a database.
  ///
  /// - Throws: `StartupError`, without the URL, which may contain a password.
  func cluster(
    _ listeners: [ServerAddress], _ logger: Logger
  ) throws(StartupError) -> ClusterConfiguration? {
    let source = databasePlace ?? (database != nil ? "--database" : "--database-file")
    if database != nil, databaseFile != nil {
      throw StartupError("--database and --database-file cannot be used together")
    }
    guard database != nil || databaseFile != nil else {
      for (name, value) in [
        ("--node", node), ("--advertise", advertised), ("--node-secret-file", nodeSecretFile),
        ("--node-ca-file", nodeAuthority),
      ] where value != nil {
        throw StartupError("\(name) requires --database")
      }
      return nil
    }
    if dataFolder != nil {
      throw StartupError(
        "\(source) and --data-dir cannot be used together: sessions are in one place")
    }
    if isTest { throw StartupError("\(source) cannot be used with --test") }
    guard let lease, lease >= .milliseconds(500) else {
      throw StartupError("--lease must be at least 0.5 seconds")
    }
    let address = try advertisedAddress(listeners, source)
    let database = try databaseAddress(source)
    if databasePlace == nil, databasePath == nil, database.hasPassword {
      logger.warning(
        "other users can see the password in --database; use --database-file or \(Self.databaseVariable)"
      )
    }
    var cluster = ClusterConfiguration(
      database: database, name: node ?? "\(address)", address: address)
    cluster.lease = lease
    cluster.secretFile = nodeSecretFile
    cluster.authority = nodeAuthority
    cluster.isInsecure = isInsecure
    return cluster
  }

  /// The file with the address of the database; nil if there is an address instead.
  private var databasePath: String? {
    if let databaseFile { return databaseFile }
    for prefix in ["@", "file:"] {
      if let database, database.hasPrefix(prefix) {
        return String(database.dropFirst(prefix.count))
      }
    }
    return nil
  }

  private func databaseAddress(_ source: String) throws(StartupError) -> PostgresAddress {
    do {
      guard let given = databasePath else { return try PostgresAddress(database ?? "") }
      let path = try credentials.path(given)
      return try PostgresAddress(file: path, isProtected: credentials.contains(path))
    } catch let error as CredentialFolder.Fault {
      throw StartupError("\(source): \(error.reason)")
    } catch {
      throw StartupError("\(source): \(error)", cause: error)
    }
  }

  /// Returns the address at which other servers reach this one.
  private func advertisedAddress(
    _ listeners: [ServerAddress], _ source: String
  ) throws(StartupError) -> ServerAddress {
    let isSecured = tlsCertificate != nil
    guard !tcp.isEmpty else {
      throw StartupError(
        "\(source) requires --tcp: other servers with the same database connect to this one")
    }
    let address: ListenerAddress
    if let advertised {
      guard let given = ListenerAddress(advertised), given.port > 0 else {
        throw StartupError("--advertise must be HOST:PORT, with the port of a --tcp listener")
      }
      address = given
    } else {
      guard tcp.count == 1, tcp[0].port > 0, !["0.0.0.0", "::"].contains(tcp[0].host) else {
        throw StartupError(
          "\(source) requires --advertise HOST:PORT, the address at which other servers reach this one"
        )
      }
      address = tcp[0]
    }
    guard isSecured || isInsecure || address.isLoopback else {
      throw StartupError(
        "connections of other nodes to \(address.tcp(isSecured: false)) would not be encrypted; pass --tls-cert and "
          + "--tls-key, advertise a loopback address, or pass --insecure")
    }
    return address.tcp(isSecured: isSecured)
  }
}
