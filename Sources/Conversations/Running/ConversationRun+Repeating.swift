// SPDX-License-Identifier: Apache-2.0

extension ConversationRun {
  /// Plays a conversation the configured number of times, up to the first play that fails or whose
  /// transcript differs from that of the first play.
  ///
  /// - Returns: The result of the first play, but with the failure if a later play failed.
  func playRepeatedly(_ conversation: Conversation) async -> PlayedConversation {
    var first = await play(conversation)
    guard repeats > 1, first.outcome == .passed else { return first }
    for number in 2...repeats {
      let next = await play(conversation)
      if let failure = conversation.failure(of: next, after: first, number, of: repeats) {
        first.outcome = .failed(failure)
        break
      }
    }
    return first
  }
}

extension Conversation {
  /// Returns the failure of a later play; nil if it passed with the same transcript as the first.
  fileprivate func failure(
    of next: PlayedConversation, after first: PlayedConversation, _ number: Int,
    of repeats: Int
  ) -> ConversationFailure? {
    if case .failed(let failure) = next.outcome {
      return ConversationFailure(
        file: failure.file, line: failure.line, summary: failure.summary,
        details: failure.details + ["in play \(number) of \(repeats); the plays before it passed"])
    }
    guard let difference = next.transcript.firstDifference(from: first.transcript) else {
      return nil
    }
    return ConversationFailure(
      file: file, line: difference.source,
      summary: "play \(number) of \(repeats) differs from the first",
      details: [
        "line \(difference.number) of the transcript",
        "in play 1: \(difference.other)", "in play \(number): \(difference.own)",
      ])
  }
}
