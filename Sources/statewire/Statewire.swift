// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Transports

/// The command line.
@main
struct Statewire: AsyncParsableCommand {
  static let version = "0.1.0"

  // Names are given, here and below, since making them up from the types costs a millisecond of
  // the start, and a frontend that spawns the service waits for that.
  static let configuration = CommandConfiguration(
    commandName: "statewire",
    abstract: "Hosts state machines for frontends in any language, over JSON-RPC 2.0.",
    version: version,
    subcommands: [Serve.self, Play.self, LedgerCommand.self, JSONCommand.self, SchemaCommand.self]
  )

  /// What the main thread does from beginning to end.
  static let loop = Result { () throws(StartupError) in try PollLoop() }

  static func main() {
    OpenFiles.outliveSizeLimit()
    let (arguments, loop): ([String], PollLoop)
    do {
      try OpenFiles.occupyStandardStreams()
      try ProgramExecutors.begin()
      (arguments, loop) = (try ProgramArguments.words(), try Self.loop.get())
    } catch {
      end(with: error)
    }
    loop.run {
      // Frontends that spawn the service wait for its first answer, and the parser takes longer to
      // begin than all the rest: where there is nothing to parse, it is left out.
      if arguments == ["serve"] {
        do {
          try await Service().run(on: loop)
        } catch {
          end(with: error)
        }
      } else {
        do {
          var command = try await asyncParseAsRoot(arguments)
          if var command = command as? any AsyncParsableCommand {
            try await command.run()
          } else {
            try command.run()
          }
        } catch {
          end(with: error)
        }
        // What has not been written must not look as if it had been.
        if fflush(nil) != 0 { end(with: StartupError("standard output cannot be written")) }
      }
    }
  }

  /// Ends the program with an error, or with the help that was asked for, as the parser does but with
  /// nothing in it that a terminal would execute.
  private static func end(with error: any Error) -> Never {
    let (message, code) = (fullMessage(for: error), exitCode(for: error))
    if !message.isEmpty {
      if code.isSuccess { Output.show(message) } else { Output.complain(message) }
    }
    fflush(nil)
    Glibc.exit(code.rawValue)
  }
}
