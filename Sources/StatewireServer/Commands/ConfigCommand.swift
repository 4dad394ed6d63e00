// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Foundation
internal import Logging
internal import StateMachines

/// The command `config` of a program: the configuration of its server.
public struct ConfigCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "config", abstract: "Checks the configuration of serve.",
      subcommands: [Check.self])
  }

  /// Creates the command with its defaults.
  public init() {}

  /// The command `config check`.
  struct Check: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "check",
        abstract: "Prints the options of serve with their sources, and all errors in them.",
        usage: "\(Program.name) config check [--config <file>] [<options of serve>]",
        discussion: """
          The options are those of serve. Values come from the command line, the environment \
          (STATEWIRE_…) and the file of --config, in this order. The output is YAML; secrets are redacted. \
          Errors go to standard error. Tokens and certificates are read; no store program is started, and \
          no database is opened.
          """)
    }

    @OptionGroup(visibility: .hidden) var arguments: ServeArguments<Program>

    func run() async throws {
      let environment = ProcessInfo.processInfo.environment
      let check = ConfigurationCheck(
        try arguments.given(), environment: environment, of: Program.self)
      Output.show(check.listing.hasSuffix("\n") ? String(check.listing.dropLast()) : check.listing)
      for warning in check.warnings { Output.writeError("warning: \(warning)") }
      for fault in check.faults { Output.writeError("error: \(fault)") }
      guard check.faults.isEmpty else { throw ExitCode.failure }
    }
  }
}

/// The check of a configuration, without a server.
struct ConfigurationCheck {
  /// The options and their sources.
  let listing: String
  /// Everything that prevents a start.
  private(set) var faults: [String]
  private(set) var warnings: [String]

  init<Program: ServerProgram>(
    _ line: CommandLineOptions, environment: [String: String], of program: Program.Type
  ) {
    let hasBuiltin = Program.kinds.hasBuiltin
    let effective = EffectiveOptions(line, environment: environment, hasBuiltin: hasBuiltin)
    let options = ServeOption.all(hasBuiltin: hasBuiltin)
    (faults, warnings) = (effective.faults, effective.warnings)
    let collected = CollectedWarnings()
    let logger = Logger(label: Program.name) { _ in collected }
    var errors: [any Error] = []
    let configuration = effective.options.configuration(of: program, logger: logger, &errors)
    errors += Secrets.faults(in: effective.options.secretFiles, logger)
    faults += errors.map(ServeOptions.message(of:))
    warnings += collected.messages.withLock { $0 }
    warnings += EnvironmentSettings.unknown(in: environment, options).map {
      "\($0) in the environment is not an option of serve, and is ignored"
    }
    listing = ConfigurationListing(effective, options, configuration.programs).text
  }
}

/// A log that keeps its messages.
private struct CollectedWarnings: LogHandler {
  let messages = Lock<[String]>([])
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.warning

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { messages.withLock { $0.append(event.message.description) } }
}
