// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Transports

/// The folder of the data when none is named.
public enum DataFolder {
  /// Returns a program's folder in the user's state folder.
  ///
  /// - Parameter name: The name of the program.
  /// - Throws: `StartupError` if the user has no such folder.
  /// - Source: XDG Base Directory Specification: `$XDG_STATE_HOME`, or `~/.local/state`.
  public static func standard(of name: String) throws(StartupError) -> String {
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/\(name)" }
    guard let home = variable("HOME"), home.hasPrefix("/") else {
      throw StartupError("no folder for the data is known: set HOME or give --data-dir")
    }
    return "\(home)/.local/state/\(name)"
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
