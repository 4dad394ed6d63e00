// SPDX-License-Identifier: Apache-2.0

/// How a conversation went.
public enum ConversationOutcome: Sendable, Equatable {
  case passed
  case failed(ConversationFailure)
}

/// What is left of a conversation once it has been played.
struct PlayedConversation: Sendable {
  var outcome: ConversationOutcome
  /// What to write in place of expected values that were not matched, where that was asked for.
  var rewrites: [Rewrite] = []
  /// Up to the step that failed, if one did.
  var transcript = Transcript()
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
