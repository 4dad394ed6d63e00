// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StatewirePage
import StatewireServer

/// The program `statewire`.
@main
struct Statewire: ServerProgram {
  static let name = "statewire"
  static let version = "0.1.0"
  static let abstract =
    "Hosts state machines for frontends in any language, over JSON-RPC 2.0."
  static let kinds = ServerKinds.builtin
  static var site: WebSite { WebSite(files: PageFiles.all) }
  static let commands: [any ParsableCommand.Type] = [
    Play.self, LedgerCommand.self, JSONCommand.self, New.self,
  ]
}
