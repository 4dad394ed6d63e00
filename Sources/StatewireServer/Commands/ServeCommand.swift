// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Foundation
internal import Logging

/// The command `serve` of a program: the server itself.
///
/// A program with its own command line adds `ServeCommand<MyProgram>.self` to its subcommands. Then
/// `MyProgram` is a `ServerProgram` whose `main` is not used.
public struct ServeCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "serve",
      abstract: "Serves stores to clients.",
      discussion: """
        Examples:

          \(Program.name) serve --web 127.0.0.1:7280
          \(Program.name) serve --tcp 127.0.0.1:7227 --data-dir data
          \(Program.name) serve --config \(Program.name).yaml --log-level debug

        Each option is also in the environment and in the file of --config: --data-dir is \
        STATEWIRE_DATA_DIR and the key data-dir. The command line takes precedence over the \
        environment, and the environment over the file; '\(Program.name) config check' prints the result.

        Without --tcp, --web or --unix, the server uses standard input and output, and ends when \
        its input ends. A frame is a line of JSON, or JSON after a Content-Length header; the \
        first bytes of a connection select the framing. Logs go to standard error.
        """
    )
  }

  @OptionGroup var arguments: ServeArguments<Program>

  /// Creates the command with its defaults.
  public init() {}

  /// Serves until the end of the server.
  ///
  /// - Throws: As `Server.run`; `ExitCode.failure` in place of `ServerFailure`.
  public func run() async throws { try await Self.serve(arguments.given()) }

  /// The values of all options on the command line.
  func options() throws(ValidationError) -> ServeOptions { try arguments.given().options }

  /// Serves until the end of the server, and logs to standard error.
  static func serve(_ line: CommandLineOptions) async throws {
    let environment = ProcessInfo.processInfo.environment
    var effective: EffectiveOptions?
    // The server of a client that starts it has neither, and the client waits.
    if line.options.configurationFile != nil || EnvironmentSettings.mayHaveSettings(environment) {
      effective = EffectiveOptions(
        line, environment: environment, hasBuiltin: Program.kinds.hasBuiltin)
    }
    let options = effective?.options ?? line.options
    let log = LogSettings(level: options.logLevel, format: options.logFormat)
    let makeHandler = { @Sendable (label: String) -> any LogHandler in
      StandardErrorLogHandler(label, log)
    }
    // Stores of a `ServerProgram` log in the same way. A program with its own `main` has its own
    // logging system.
    if MainThread.current != nil { LoggingSystem.bootstrap(makeHandler) }
    let logger = Logger(label: Program.name, factory: makeHandler)
    do {
      try await serve(line, effective, options, environment, log, logger)
    } catch is ServerFailure {
      throw ExitCode.failure
    } catch  where log.format == .json {
      // Otherwise ArgumentParser writes the error for people.
      for fault in ServeOptions.message(of: error).split(separator: "\n") {
        logger.critical("\(fault)")
      }
      throw RootCommand<Program>.exitCode(for: error)
    }
  }

  private static func serve(
    _ line: CommandLineOptions, _ effective: EffectiveOptions?, _ options: ServeOptions,
    _ environment: [String: String], _ log: LogSettings, _ logger: Logger
  ) async throws {
    if let faults = effective?.faults, !faults.isEmpty {
      throw StartupError(faults.joined(separator: "\n"))
    }
    for warning in effective?.warnings ?? [] { logger.warning("\(warning)") }
    var configuration = try options.configuration(of: Program.self, logger: logger)
    if let effective, options.configurationFile != nil {
      let reload = ConfigurationReload(effective, log, logger) {
        EffectiveOptions(line, environment: environment, hasBuiltin: Program.kinds.hasBuiltin)
      }
      configuration.reload = reload.reload
    }
    try await Server.run(configuration, on: MainThread.current)
  }
}
