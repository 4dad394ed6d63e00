// SPDX-License-Identifier: Apache-2.0

public import PostgresConnections
public import Sessions

/// The nodes of a database, for a program that is none of them.
public struct NodeTable: Sendable {
  private let connection: PostgresConnection

  /// Connects to a database, and creates or migrates its tables. Blocks until that has succeeded or
  /// failed.
  ///
  /// - Throws: `PostgresError`.
  public init(_ database: PostgresAddress) throws(PostgresError) {
    connection = PostgresConnection(database, application: "statewire")
    do {
      try PostgresSchema.migrate(connection, within: Self.time)
    } catch {
      connection.closeAndWait()
      throw error
    }
  }

  /// Ends the connection.
  public func close() { connection.closeAndWait() }

  /// Reads the nodes that have a lease.
  public func nodes() throws(PostgresError) -> [ClusterNode] {
    ClusterNode.all(
      try connection.execute(PostgresTransaction(PostgresNode.nodes), within: Self.time)[0])
  }

  /// Asks a node to give its sessions up and to end.
  ///
  /// - Returns: False if there is no such node.
  public func drain(_ name: String) throws(PostgresError) -> Bool {
    let drain = PostgresTransaction(Self.drain, .text(name))
    return try !connection.execute(drain, within: Self.time)[0].isEmpty
  }

  /// Reads the secret that all nodes of the database have, unless they are given another one.
  public func secret() throws(PostgresError) -> String {
    try connection.execute(PostgresTransaction(Self.secret), within: Self.time)[0].text(0, 0) ?? ""
  }

  private static let time = Duration.seconds(10)
  private static let drain = PostgresStatement(
    "drain", "UPDATE statewire.node SET drains = true WHERE name = $1 RETURNING id")
  private static let secret = PostgresStatement("secret", "SELECT value FROM statewire.secret")
}

extension ClusterNode {
  /// Reads the rows of `PostgresNode.nodes`.
  static func all(_ rows: PostgresRows) -> [ClusterNode] {
    (0..<rows.count).map { row in
      ClusterNode(
        name: rows.text(row, 0) ?? "", address: rows.text(row, 1) ?? "",
        leaseLeft: .milliseconds(rows.integer(row, 2) ?? 0))
    }
  }
}
