// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Foundation
internal import PostgresConnections
internal import PostgresSessionJournal
internal import Sessions
internal import StatewireJSON
internal import Transports

/// The command `node` of a program: the servers that share a database.
public struct NodeCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "node", abstract: "Lists and drains servers that share a database.",
      subcommands: [List.self, Drain.self])
  }

  /// Creates the command with its defaults.
  public init() {}

  /// The command `node list`.
  struct List: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(commandName: "list", abstract: "Shows the servers and their leases.")
    }

    @OptionGroup var place: Place

    func run() async throws {
      try place.withNodes { table throws(PostgresError) in
        for node in try table.nodes() {
          let seconds = (node.leaseLeft / .milliseconds(100)).rounded() / 10
          let lease = node.leaseLeft > .zero ? "lease ends in \(seconds) s" : "dead"
          Output.show("\(node.name)  \(node.address)  \(lease)")
        }
      }
    }
  }

  /// The command `node drain`.
  struct Drain: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "drain",
        abstract: "Drains a server: the other servers continue its sessions, and it exits.",
        discussion: """
          The clients of the server connect to the other servers. The command returns when the server has released its \
          sessions and its lease.
          """)
    }

    @Argument(help: "The name of the server, as list shows it.")
    var name: String

    @OptionGroup var place: Place

    func run() async throws {
      let name = name
      let hasLeft = try place.withNodes { table throws(PostgresError) in
        guard try table.drain(name) else {
          throw PostgresError(.refused, "there is no node \(name); node list shows all")
        }
        let deadline = ContinuousClock.now + .seconds(30)
        while try table.nodes().contains(where: { $0.name == name }) {
          guard ContinuousClock.now < deadline else { return false }
          // A command without other work; the table sends no notice.
          Thread.sleep(forTimeInterval: 0.1)
        }
        return true
      }
      guard hasLeft else {
        throw StartupError("the node \(name) still has a lease after 30 seconds")
      }
      Output.show("\(name) has released its sessions and its lease")
    }
  }

  /// The place of the nodes.
  struct Place: ParsableArguments {
    @Option(
      help: "PostgreSQL database of the servers, as for serve. (environment: STATEWIRE_DATABASE)")
    var database: String?

    @Option(help: "Read the URL of the database from the first line of this file.")
    var databaseFile: String?

    func withNodes<Result>(
      _ body: (NodeTable) throws(PostgresError) -> Result
    ) throws -> Result {
      do throws(PostgresError) {
        let address = try PostgresAddress.configured(
          option: database ?? databaseFile.map { "file:\($0)" },
          environment: ProcessInfo.processInfo.environment[ServeOptions.databaseVariable])
        guard let address else {
          throw PostgresError(
            .notSent, "pass --database, --database-file or \(ServeOptions.databaseVariable)")
        }
        let table = try NodeTable(address)
        defer { table.close() }
        return try body(table)
      } catch {
        throw StartupError("\(error)", cause: error)
      }
    }
  }
}
