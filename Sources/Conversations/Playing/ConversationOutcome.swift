// SPDX-License-Identifier: Apache-2.0

/// How a conversation went.
public enum ConversationOutcome: Sendable, Equatable {
  case passed
  case failed(ConversationFailure)
}

/// Where and how a conversation went another way than it is written.
public struct ConversationFailure: Error, Equatable {
  public let file: String
  /// The line that was not fulfilled, from 1.
  public let line: Int
  /// What happened, in one line.
  public let summary: String
  /// More lines: both values, where they differ, and what came before.
  public let details: [String]
}

extension ConversationFailure: CustomStringConvertible {
  /// `file:line: summary`, and the details below it, indented.
  public var description: String {
    (["\(file):\(line): \(summary)"] + details.map { "  " + $0 }).joined(separator: "\n")
  }
}
