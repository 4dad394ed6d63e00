// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import PostgresConnections
internal import TestSupport
public import Testing

/// A PostgreSQL server for tests, started by `Tests/Postgres/server`. It ends with the process of
/// the tests, however that ends.
public final class PostgresServer: Sendable {
  /// The folder of the server.
  public let folder: String
  /// The address of its database.
  public let url: String
  private let input: FileHandle

  /// A server that could not be started.
  public struct Missing: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
  }

  private static let shared = Result { try PostgresServer() }

  /// The server that tests share which do not stop it.
  ///
  /// - Throws: `Missing`. PostgreSQL is required where `CI` is set, and elsewhere unless
  ///   `STATEWIRE_SKIP_POSTGRES` is set.
  public static func common() throws -> PostgresServer { try shared.get() }

  /// Starts a server.
  ///
  /// - Parameter settings: Settings of `postgresql.conf`, each as `NAME=VALUE`.
  public init(_ settings: String...) throws {
    let number = String(UInt32.random(in: .min ... .max), radix: 36)
    folder = FileManager.default.temporaryDirectory.appending(path: "statewire-pg-\(number)").path
    let (input, output) = (Pipe(), Pipe())
    let process = Process()
    process.executableURL = URL(filePath: Self.script)
    process.arguments = ["hold", folder] + settings
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    self.input = input.fileHandleForWriting
    do {
      let line = try output.fileHandleForReading.read(untilLineWith: "postgres://").line
      url = line
    } catch {
      throw Missing(
        description: """
          PostgreSQL cannot be started; the lines before say why. Set STATEWIRE_SKIP_POSTGRES=1 to \
          skip the tests that need it, except where CI is set.
          """)
    }
  }

  deinit { try? input.close() }

  private static var script: String {
    TestedPackage.root.appending(path: "Tests/Postgres/server").path
  }

  /// Starts the server again after `stop` or `kill`.
  public func start() throws { try run("start") }
  /// Stops the server in order.
  public func stop() throws { try run("stop") }
  /// Ends all processes of the server by SIGKILL.
  public func kill() throws { try run("kill") }

  private func run(_ command: String) throws {
    let result = try ProgramResult(of: Self.script, [command, folder])
    guard result.status == 0 else { throw Missing(description: result.errors) }
  }

  /// Creates a database.
  ///
  /// - Returns: Its address as text.
  public func makeDatabase() throws -> String {
    let name = "test_" + String(UInt64.random(in: .min ... .max), radix: 36)
    let connection = PostgresConnection(try PostgresAddress(url), application: "tests")
    _ = try connection.run("CREATE DATABASE \(name)")
    return String(url.dropLast("statewire".count)) + name
  }
}

extension PostgresConnection {
  /// Executes one statement without parameters, and blocks until it has ended.
  @discardableResult
  public func run(_ sql: String) throws -> PostgresRows {
    let statement = PostgresStatement("test \(sql.hashValue)", sql)
    return try execute(PostgresTransaction(statement), within: .seconds(30))[0]
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips tests that need PostgreSQL where the user has asked for that.
  public static var needsPostgres: ConditionTrait {
    let environment = ProcessInfo.processInfo.environment
    let isSkipped = environment["STATEWIRE_SKIP_POSTGRES"] != nil && environment["CI"] == nil
    return .disabled(if: isSkipped, "STATEWIRE_SKIP_POSTGRES is set")
  }
}
