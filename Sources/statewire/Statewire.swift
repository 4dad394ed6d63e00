// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CEmbeddedFiles
import StatewirePage
import StatewireProtocol
import StatewireServer

/// The program `statewire`.
@main
struct Statewire: ServerProgram {
  static let name = "statewire"
  static let version = "0.1.0"
  static var versionDetails: [String] {
    let (commit, toolchain) = (
      String(cString: embedded_commit()), String(cString: embedded_toolchain())
    )
    return [
      "protocol \(Initialize.supportedVersions.joined(separator: ", "))",
      "commit \(commit.isEmpty ? "unknown: not built by make release" : commit)",
    ] + (toolchain.isEmpty ? [] : ["Swift \(toolchain)"])
  }
  static let abstract =
    "Hosts state machines for clients in any language, over JSON-RPC 2.0."
  static let kinds = ServerKinds.builtin
  static var site: WebSite { WebSite(files: PageFiles.all) }
  static let commands: [any ParsableCommand.Type] = [
    Play.self, Record.self, Load.self, LedgerCommand.self, JSONCommand.self, New.self,
  ]
}
