// SPDX-License-Identifier: Apache-2.0

import Foundation
import Transports

/// Where data is kept when nobody says where.
enum DataFolder {
  /// The user's state folder.
  /// - Source: XDG Base Directory Specification: `$XDG_STATE_HOME`, or `~/.local/state`.
  static func standard() throws -> String {
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/statewire" }
    guard let home = variable("HOME"), home.hasPrefix("/") else {
      throw StartupError("no folder for the data is known: set HOME or give --data-dir")
    }
    return home + "/.local/state/statewire"
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
