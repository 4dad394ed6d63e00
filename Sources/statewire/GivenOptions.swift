// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import StatewireServer

/// The option for values that a conversation does not contain, such as tokens.
struct GivenOptions: ParsableArguments {
  @Option(
    name: .customLong("given"),
    help: ArgumentHelp(
      "The value of a name that a conversation declares with @given: the first line of a file.",
      valueName: "name=file"))
  var names: [String] = []

  func validate() throws {
    for text in names where Self.parts(text) == nil {
      throw ValidationError("--given must be NAME=FILE, for example token=/run/secrets/token")
    }
  }

  /// Reads the files.
  ///
  /// - Throws: `ValidationError` if a file cannot be read.
  func values() throws -> GivenValues {
    var values = GivenValues()
    for (name, path) in names.compactMap(Self.parts) {
      values[name] = try FirstLine.read(path, "--given \(name)")
    }
    return values
  }

  private static func parts(_ text: String) -> (name: String, path: String)? {
    let parts = text.split(separator: "=", maxSplits: 1)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }
}
