// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import TransportSupport

/// The option of commands for the token that a server requires.
public struct TokenFileOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("File whose first line is the token for the server.", valueName: "file"))
  var tokenFile: String?

  /// Creates the option without a value.
  public init() {}

  /// True if the option is given.
  public var isGiven: Bool { tokenFile != nil }

  /// Reads the token.
  ///
  /// - Returns: The token; nil without the option.
  /// - Throws: `ValidationError` if the file cannot be read.
  public func token() throws -> String? {
    try tokenFile.map { try FirstLine.read($0, "--token-file") }
  }
}

/// The first line of a file, without its end: the form in which commands take a secret.
public enum FirstLine {
  /// Reads the first line of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - option: The option with the path, for the error.
  /// - Throws: `ValidationError` if the file cannot be read.
  public static func read(_ path: String, _ option: String) throws -> String {
    do throws(WholeFile.Fault) {
      let line = try WholeFile(path, maximumBytes: 64 << 10).bytes.prefix { $0 != 0x0A }
      return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    } catch {
      throw ValidationError("\(option): \(path) cannot be read: \(error)")
    }
  }
}
