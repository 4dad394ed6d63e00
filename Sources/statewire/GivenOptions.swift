// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import TransportSupport

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
      values[name] = try Self.firstLine(of: path, "--given \(name)")
    }
    return values
  }

  /// Returns the first line of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - option: The option with the path, for the error.
  /// - Throws: `ValidationError` if the file cannot be read.
  static func firstLine(of path: String, _ option: String) throws -> String {
    do throws(WholeFile.Fault) {
      let line = try WholeFile(path, maximumBytes: 64 << 10).bytes.prefix { $0 != 0x0A }
      return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    } catch {
      throw ValidationError("\(option): \(path) cannot be read: \(error)")
    }
  }

  private static func parts(_ text: String) -> (name: String, path: String)? {
    let parts = text.split(separator: "=", maxSplits: 1)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }
}
