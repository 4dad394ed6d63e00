// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Glibc

/// A program that serves stores, with the command line of `statewire`.
///
/// ```swift
/// import StatewireServer
///
/// @main
/// struct StopwatchServer: ServerProgram {
///   static let kinds: ServerKinds = [StoreKind("stopwatch") { Stopwatch() }]
/// }
/// ```
///
/// `stopwatch-server serve --help` lists the options: addresses, tokens, TLS, limits, the data folder, logging.
/// `stopwatch-server schema` describes the kinds. SIGTERM and SIGINT end the program with 0, after the responses to
/// all requests that were received; SIGHUP reads tokens and certificates again.
///
/// Standard output carries frames: a store must not print to it.
public protocol ServerProgram: SendableMetatype {
  /// The kinds of stores that clients can open.
  static var kinds: ServerKinds { get }

  /// The name of the program in its help, in the response to `initialize`, and of its folder in the user's state
  /// folder. By default the name of the type, in lower case and with dashes.
  static var name: String { get }

  /// The version in the response to `initialize` and of `--version`; by default empty, which is none.
  static var version: String { get }

  /// One sentence at the top of the help.
  static var abstract: String { get }

  /// The files that `--web` serves beside the WebSocket, by their paths; `index.html` is that of `/`. By default
  /// none.
  static var page: [String: [UInt8]] { get }

  /// Commands of the program beside `serve` and `schema`; by default none.
  static var commands: [any ParsableCommand.Type] { get }
}

extension ServerProgram {
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

  public static var version: String { "" }
  public static var abstract: String { "Hosts state machines for frontends, over JSON-RPC 2.0." }
  public static var page: [String: [UInt8]] { [:] }
  public static var commands: [any ParsableCommand.Type] { [] }

  /// Runs the command that the arguments of the process name, and ends the process.
  public static func main() {
    OpenFiles.outliveSizeLimit()
    let arguments: [String]
    let loop: PollLoop
    do {
      try OpenFiles.occupyStandardStreams()
      try ProgramExecutors.begin()
      (arguments, loop) = (try ProgramArguments.words(), try MainThread.loop.get())
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
    // A client that starts the program waits for its first response, and ArgumentParser takes longer than all the
    // rest.
    if arguments.first == "serve",
      let options = ServeOptions(words: arguments.dropFirst(), hasBuiltin: kinds.hasBuiltin)
    {
      try await ServeCommand<Self>.serve(options)
      return
    }
    var command = try await RootCommand<Self>.asyncParseAsRoot(arguments)
    if var command = command as? any AsyncParsableCommand {
      try await command.run()
    } else {
      try command.run()
    }
    // Output that was not written must not look as if it had been.
    if fflush(nil) != 0 { throw StartupError("standard output cannot be written") }
  }

  /// Ends the process with an error, or with the help that was asked for, as ArgumentParser does, but without
  /// characters that a terminal would execute.
  private static func end(with error: any Error) -> Never {
    let message = RootCommand<Self>.fullMessage(for: error)
    let code = RootCommand<Self>.exitCode(for: error)
    if !message.isEmpty {
      if code.isSuccess { Output.show(message) } else { Output.complain(message) }
    }
    fflush(nil)
    Glibc.exit(code.rawValue)
  }
}

/// The command line of a program.
struct RootCommand<Program: ServerProgram>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Program.name, abstract: Program.abstract, version: Program.version,
      subcommands: [ServeCommand<Program>.self] + Program.commands + [SchemaCommand<Program>.self])
  }
}
