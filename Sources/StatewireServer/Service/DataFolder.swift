// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Transports

/// The default folder of the data.
public enum DataFolder {
  /// Returns the path of a program's folder in the user's state folder; it may not exist yet.
  ///
  /// - Parameter name: The name of the program.
  /// - Throws: `StartupError` if neither `XDG_STATE_HOME` nor `HOME` is an absolute path.
  /// - Source: XDG Base Directory Specification: `$XDG_STATE_HOME`, or `~/.local/state`.
  public static func standard(of name: String) throws(StartupError) -> String {
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/\(name)" }
    guard let home = variable("HOME"), home.hasPrefix("/") else {
      throw StartupError(
        "cannot find a data folder: HOME is not an absolute path; set HOME or pass --data-dir")
    }
    return "\(home)/.local/state/\(name)"
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
