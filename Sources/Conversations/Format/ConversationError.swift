// SPDX-License-Identifier: Apache-2.0

/// The reason why a text is not a conversation.
public struct ConversationError: Error, Equatable {
  /// The name of the file.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int
  /// The fault in one line, for people.
  public let message: String
}

extension ConversationError: CustomStringConvertible {
  /// The error as `file:line:column: message`, a form that editors understand.
  public var description: String { "\(file):\(line):\(column): \(message)" }
}
