// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import Persistence
import ServerCore
import ServiceLifecycle
import Sessions
import StatewireProtocol
import Transports
import UnixSignals

/// `statewire serve`: the service itself.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves stores to frontends.",
    discussion: """
      Without a listener, standard input and output are served, and the server ends with its \
      input. Frames are lines of JSON, or have Content-Length headers; the first byte of a \
      connection decides. Logs go to standard error.
      """
  )

  @Option(help: "Listen on a TCP address; repeatable. Port 0 takes a free one.")
  var tcp: [Listener] = []

  @Option(help: "Listen on a Unix socket that only you can open; repeatable.")
  var unix: [String] = []

  @Flag(help: "Serve standard input and output beside other listeners.")
  var stdio = false

  @Option(help: "The folder of the database. (default: $XDG_STATE_HOME/statewire)")
  var dataDir: String?

  @Option(help: "What to log, from everything to the worst only.")
  var logLevel = LogLevel.notice

  @OptionGroup(title: "Limits")
  var limits: LimitOptions

  func run() async throws {
    let level = logLevel.level
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    let logger = Logger(label: "statewire")
    OpenFiles.raiseLimit()

    let database = EmbeddedDatabase(folder: try dataDir ?? DataFolder.standard()) { failure in
      logger.error("\(failure)")
    }
    // A folder that was asked for must be usable; the default one is looked at on first use.
    if dataDir != nil { try await database.open() }
    let server = try await Server.start(
      kinds: StoreKind.builtin(database: database),
      settings: ServerSettings(
        limits: limits.server, logger: logger,
        program: Initialize.Program(name: "statewire", version: Statewire.version)),
      sessionLimits: limits.session,
      listeners: tcp.map(\.address) + unix.map { .unix(path: $0) },
      stdio: stdio || (tcp.isEmpty && unix.isEmpty))
    for address in server.addresses { logger.notice("listening on \(address)") }

    var configuration = ServiceGroupConfiguration(
      services: [
        .init(service: DatabaseService(database: database)),
        .init(
          service: ServerService(server: server),
          successTerminationBehavior: .gracefullyShutdownGroup),
      ],
      gracefulShutdownSignals: [.sigterm, .sigint],
      logger: Logger(label: "statewire.lifecycle") { _ in SwiftLogNoOpLogHandler() })
    configuration.maximumGracefulShutdownDuration = .seconds(10)
    try await ServiceGroup(configuration: configuration).run()
  }
}

/// A TCP address on the command line.
struct Listener: ExpressibleByArgument {
  let address: ServerAddress

  init?(argument: String) {
    guard case .tcp(let host, let port)? = ServerAddress(argument) else { return nil }
    address = .tcp(host: host, port: port)
  }
}

/// A log level on the command line.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
  case trace, debug, info, notice, warning, error, critical

  var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}
