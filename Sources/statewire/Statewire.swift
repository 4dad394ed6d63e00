// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command line.
@main
struct Statewire: AsyncParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "statewire",
    abstract: "Hosts state machines for frontends in any language, over JSON-RPC 2.0.",
    version: version,
    subcommands: [Serve.self, JSONCommand.self]
  )
}
