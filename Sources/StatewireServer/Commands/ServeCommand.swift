// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
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
      abstract: "Serves stores to frontends.",
      discussion: """
        Without --tcp, --web or --unix, the server uses standard input and output, and ends when \
        its input ends. A frame is a line of JSON, or JSON after a Content-Length header; the \
        first bytes of a connection select the framing. Logs go to standard error.
        """
    )
  }

  @OptionGroup var general: OptionTable<GeneralOptions<Program>>
  @OptionGroup(title: "Security") var security: OptionTable<SecurityOptions<Program>>
  @OptionGroup(title: "Limits") var limits: OptionTable<LimitOptions<Program>>

  /// Creates the command with its defaults.
  public init() {}

  /// Checks the options, without reading files.
  public func validate() throws { try options().validate() }

  /// Serves until the end of the server.
  ///
  /// - Throws: As `Server.run`; `ExitCode.failure` in place of `ServerFailure`.
  public func run() async throws { try await Self.serve(options()) }

  /// The values of all options.
  func options() throws(ValidationError) -> ServeOptions {
    var options = ServeOptions()
    try general.read(into: &options)
    try security.read(into: &options)
    try limits.read(into: &options)
    return options
  }

  /// Serves until the end of the server, and logs to standard error.
  static func serve(_ options: ServeOptions) async throws {
    let level = options.logLevel
    let makeHandler = { @Sendable (label: String) -> any LogHandler in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return PrintableLogHandler(handler)
    }
    // Stores of a `ServerProgram` log in the same way. A program with its own `main` has its own
    // logging system.
    if MainThread.current != nil { LoggingSystem.bootstrap(makeHandler) }
    let configuration = try options.configuration(
      of: Program.self, logger: Logger(label: Program.name, factory: makeHandler))
    do {
      try await Server.run(configuration, on: MainThread.current)
    } catch is ServerFailure {
      throw ExitCode.failure
    }
  }
}
