// SPDX-License-Identifier: Apache-2.0

/// How a server is started for one conversation.
///
/// In its words, `{folder}` stands for a new, empty folder, and `{socket}` for the path of a Unix
/// socket that the server is to listen on. A server that listens nowhere is talked to over its
/// standard streams, and each connection is a process of its own.
public struct ServerCommand: Sendable {
  static let folder = "{folder}"
  static let socket = "{socket}"

  /// The program and its arguments.
  public let words: [String]
  /// What is added for a conversation that uses several connections, or one again; with `{socket}`
  /// in it. Empty, if the server cannot do that or `words` do it always.
  public let listening: [String]

  public init(_ words: [String], listening: [String] = []) {
    self.words = words
    self.listening = listening
  }

  /// The words for a conversation, with the options that it asks for.
  ///
  /// - Returns: Nil if it needs more connections than such a server can have.
  func words(for conversation: Conversation) -> [String]? {
    let words = words + conversation.serverOptions
    if words.contains(where: { $0.contains(Self.socket) }) { return words }
    if conversation.connectionNames.count > 1 {
      return listening.isEmpty ? nil : words + listening
    }
    return conversation.reopensConnections ? words + listening : words
  }
}
