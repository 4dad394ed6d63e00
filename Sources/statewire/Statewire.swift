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
    let arguments = Array(CommandLine.arguments.dropFirst())
    let loop: PollLoop
    do {
      try OpenFiles.occupyStandardStreams()
      try ProgramExecutors.begin()
      loop = try Self.loop.get()
    } catch {
      exit(withError: error)
    }
    loop.run {
      // Frontends that spawn the service wait for its first answer, and the parser takes longer to
      // begin than all the rest: where there is nothing to parse, it is left out.
      if arguments == ["serve"] {
        do {
          try await Service().run(on: loop)
        } catch {
          Serve.exit(withError: error)
        }
      } else {
        await main(arguments)
        // What has not been written must not look as if it had been.
        if fflush(nil) != 0 { exit(withError: StartupError("standard output cannot be written")) }
      }
    }
  }
}
