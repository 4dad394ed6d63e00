// SPDX-License-Identifier: Apache-2.0

/// The end of a played conversation: all steps passed, or the first step that failed.
public enum ConversationOutcome: Sendable, Equatable {
  /// All steps passed.
  case passed
  /// A step failed.
  case failed(ConversationFailure)
}

/// The result of playing a conversation.
struct PlayedConversation: Sendable {
  var outcome: ConversationOutcome
  /// The rewrites of expected values that did not match; empty unless recording.
  var rewrites: [Rewrite] = []
  /// The transcript, up to the step that failed if there is one.
  var transcript = Transcript()
}

/// The first step of a conversation that failed, with the reason.
public struct ConversationFailure: Error, Equatable {
  /// The name of the file.
  public let file: String
  /// The line of the step, from 1.
  public let line: Int
  /// The failure in one line.
  public let summary: String
  /// The further lines: expected and received values, their differences, and the messages before.
  public let details: [String]
}

extension ConversationFailure: CustomStringConvertible {
  /// The failure as `file:line: summary`, followed by the details, indented.
  public var description: String {
    (["\(file):\(line): \(summary)"] + details.map { "  " + $0 }).joined(separator: "\n")
  }
}
