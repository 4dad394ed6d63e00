// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser

/// The option of commands for the token that a server requires.
public struct TokenFileOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "File whose first line is the token to show to the server.", valueName: "file"))
  var tokenFile: String?

  /// Creates the option without a value.
  public init() {}

  /// True if the option is given.
  public var isGiven: Bool { tokenFile != nil }

  /// Reads the token.
  ///
  /// - Returns: The token; nil without the option.
  /// - Throws: `ValidationError` if the file cannot be read, or its first line cannot be a token.
  public func token() throws -> String? {
    guard let tokenFile else { return nil }
    var token = try FirstLine.read(tokenFile, "--token-file")
    while token.last?.isWhitespace == true { token.removeLast() }
    guard !token.isEmpty, token.utf8.allSatisfy({ 0x21..<0x7F ~= $0 }) else {
      throw ValidationError(
        "--token-file: the first line of \(tokenFile) is not a token of visible ASCII characters")
    }
    return token
  }
}
