// SPDX-License-Identifier: Apache-2.0

/// The command that starts a server for one conversation.
///
/// In its words `{folder}` is replaced by the path of a new, empty folder, and `{socket}` by the
/// path of a Unix socket on which the server must listen. A server that does not listen is used
/// over its standard streams, with one process for each connection.
public struct ServerCommand: Sendable {
  static let folder = "{folder}"
  static let socket = "{socket}"

  /// The program and its arguments.
  public let words: [String]
  /// The words to add for a conversation that uses several connections, or one connection again;
  /// they contain `{socket}`. Empty if the server cannot listen, or if `words` contains `{socket}`
  /// already.
  public let listening: [String]

  /// Creates a command.
  public init(_ words: [String], listening: [String] = []) {
    self.words = words
    self.listening = listening
  }

  /// Returns the words for a conversation, with the options that it asks for.
  ///
  /// - Returns: The words; nil if the conversation needs more connections than the server supports.
  func words(for conversation: Conversation) -> [String]? {
    let words = words + conversation.serverOptions
    if words.contains(where: { $0.contains(Self.socket) }) { return words }
    if conversation.connectionNames.count > 1 {
      return listening.isEmpty ? nil : words + listening
    }
    return conversation.reopensConnections ? words + listening : words
  }
}
