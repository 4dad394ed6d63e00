// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Logging

/// The command `serve` of a program: the server itself.
///
/// A program with a command line of its own lists `ServeCommand<MyProgram>.self` among its subcommands; `MyProgram` is
/// a `ServerProgram` then whose `main` is not used.
public struct ServeCommand<Program: ServerProgram>: AsyncParsableCommand {
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "serve",
      abstract: "Serves stores to frontends.",
      discussion: """
        Without a listener, standard input and output are served, and the server ends with its \
        input. Frames are lines of JSON, or have Content-Length headers; the first bytes of a \
        connection decide. Logs go to standard error.
        """
    )
  }

  @OptionGroup var general: OptionTable<GeneralOptions<Program>>
  @OptionGroup(title: "Security") var security: OptionTable<SecurityOptions<Program>>
  @OptionGroup(title: "Limits") var limits: OptionTable<LimitOptions<Program>>

  public init() {}

  public func validate() throws { try options().validate() }

  public func run() async throws { try await Self.serve(options()) }

  /// The values of all options.
  func options() throws(ValidationError) -> ServeOptions {
    var options = ServeOptions()
    try general.read(into: &options)
    try security.read(into: &options)
    try limits.read(into: &options)
    return options
  }

  /// Serves until the end, and logs to standard error.
  static func serve(_ options: ServeOptions) async throws {
    let level = options.logLevel
    let makeHandler = { @Sendable (label: String) -> any LogHandler in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return PrintableLogHandler(handler)
    }
    // The stores of a `ServerProgram` log in the same way; a program with a `main` of its own has set up its log.
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
