// SPDX-License-Identifier: Apache-2.0

/// Why a text is no conversation.
public struct ConversationError: Error, Equatable {
  public let file: String
  /// From 1.
  public let line: Int
  /// In characters, from 1.
  public let column: Int
  /// One readable line.
  public let message: String
}

extension ConversationError: CustomStringConvertible {
  /// `file:line:column: message`, which editors understand.
  public var description: String { "\(file):\(line):\(column): \(message)" }
}
