// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Documents
internal import Glibc

/// A program that serves stores, with the command line of `statewire`.
///
/// ```swift
/// import StatewireServer
///
/// @main
/// struct StopwatchServer: ServerProgram {
///   static let version = "1.0.0"
///   static let abstract = "Serves a stopwatch."
///   static let kinds: ServerKinds = [StoreKind("stopwatch") { Stopwatch() }]
/// }
/// ```
///
/// - `stopwatch-server serve --help` lists the options: addresses, tokens, TLS, limits, the data
///   folder, logging.
/// - `stopwatch-server config check` prints the options and their sources.
/// - `stopwatch-server journal` lists and puts back states that the server could not read.
/// - `stopwatch-server node` lists and drains servers that share a database.
/// - `stopwatch-server health` asks a server with `--admin` whether it responds.
/// - `stopwatch-server schema` describes the kinds.
/// - `stopwatch-server types --language typescript` writes types of the kinds for clients.
/// - SIGTERM and SIGINT end the program with 0, after the responses to all received requests.
/// - SIGHUP reloads tokens, certificates and the configuration file.
///
/// Standard output carries frames, so a store must not print to it.
public protocol ServerProgram: SendableMetatype {
  /// The store kinds that clients can open.
  static var kinds: ServerKinds { get }

  /// The name of the program: in its help, in the response to `initialize`, and of its folder in
  /// the user's state folder. By default the name of the type, in lower case and with dashes.
  static var name: String { get }

  /// The version in the response to `initialize` and in the output of `--version`. By default
  /// empty: `initialize` then has no version, and `--version` prints `unversioned`.
  static var version: String { get }

  /// Lines of `--version` after the version, such as the commit; by default none.
  static var versionDetails: [String] { get }

  /// The purpose of the program, one sentence at the top of the help.
  static var abstract: String { get }

  /// The page that `--web` serves beside the WebSocket, from files in the program, from a folder, or
  /// both. By default there is no page.
  ///
  /// The options `--web-root`, `--web-origin` and `--content-security-policy` take precedence. The
  /// JavaScript client is at `/client/index.js`, whatever the page is.
  static var site: WebSite { get }

  /// The limits of the tables and documents of its kinds (`KindContext.documents`).
  static var documentLimits: DocumentLimits { get }

  /// The commands of the program in addition to `serve`, `config`, `health`, `journal`, `node`, `schema`
  /// and `types`; by default none.
  static var commands: [any ParsableCommand.Type] { get }
}

extension ServerProgram {
  /// The name of the type in lower case, with a dash before each capital that follows a lower-case
  /// letter.
  public static var name: String {
    var name = ""
    var isAfterLowercase = false
    for character in String(describing: Self.self) {
      if character.isUppercase, isAfterLowercase { name += "-" }
      name += character.lowercased()
      isAfterLowercase = character.isLowercase
    }
    return name
  }

  /// No version.
  public static var version: String { "" }
  /// No details.
  public static var versionDetails: [String] { [] }
  /// A sentence that fits every program.
  public static var abstract: String { "Hosts state machines for clients, over JSON-RPC 2.0." }
  /// No page.
  public static var site: WebSite { WebSite() }
  /// The default limits.
  public static var documentLimits: DocumentLimits { DocumentLimits() }
  /// No commands.
  public static var commands: [any ParsableCommand.Type] { [] }

  /// Runs the command that the arguments of the process select, and ends the process.
  public static func main() {
    OpenFiles.ignoreSizeLimitSignal()
    let arguments: [String]
    let loop: PollLoop
    do {
      arguments = try ProgramArguments.words()
      if arguments.first == "serve" { ServerSignals.begin() }
      try OpenFiles.occupyStandardStreams()
      try ProgramExecutors.begin()
      loop = try MainThread.loop.get()
    } catch {
      end(with: error)
    }
    MainThread.run(loop) {
      do {
        try await run(arguments)
      } catch {
        end(with: error)
      }
    }
  }

  private static func run(_ arguments: [String]) async throws {
    // A client that starts the program waits for the first response, and ArgumentParser takes as
    // long as the rest of the start.
    if arguments.first == "serve",
      let line = CommandLineOptions(words: arguments.dropFirst(), hasBuiltin: kinds.hasBuiltin)
    {
      try await ServeCommand<Self>.serve(line)
      return
    }
    var command = try await RootCommand<Self>.asyncParseAsRoot(arguments)
    if var command = command as? any AsyncParsableCommand {
      try await command.run()
    } else {
      try command.run()
    }
    // A failed write of buffered output must not look like success.
    if fflush(nil) != 0 { throw StartupError("standard output cannot be written") }
  }

  /// Ends the process with an error or with the requested help, as ArgumentParser does, but without
  /// control characters.
  private static func end(with error: any Error) -> Never {
    let message = RootCommand<Self>.fullMessage(for: error)
    let code = RootCommand<Self>.exitCode(for: error)
    if !message.isEmpty {
      if code.isSuccess { Output.show(message) } else { Output.writeError(message) }
    }
    fflush(nil)
    Glibc.exit(code.rawValue)
  }
}

/// The command line of a program.
struct RootCommand<Program: ServerProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Program.name, abstract: Program.abstract,
      // ArgumentParser has no `--version` if the version is empty.
      version: ([Program.version.isEmpty ? "unversioned" : Program.version]
        + Program.versionDetails).joined(separator: "\n"),
      subcommands: [ServeCommand<Program>.self] + Program.commands
        + [
          ConfigCommand<Program>.self, HealthCommand<Program>.self, JournalCommand<Program>.self,
          NodeCommand<Program>.self, SchemaCommand<Program>.self, TypesCommand<Program>.self,
        ])
  }
}
