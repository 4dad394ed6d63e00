// SPDX-License-Identifier: Apache-2.0

extension ConversationRun {
  /// Plays a conversation as often as it is to be played, up to the first time that fails or goes
  /// another way than the first.
  ///
  /// - Returns: What the first time led to, but for how it went.
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
  /// Why a play that is not the first one is no repetition of it; nil if it is.
  fileprivate func failure(
    of next: PlayedConversation, after first: PlayedConversation, _ number: Int,
    of repeats: Int
  ) -> ConversationFailure? {
    if case .failed(let failure) = next.outcome {
      return ConversationFailure(
        file: failure.file, line: failure.line, summary: failure.summary,
        details: failure.details + ["in play \(number) of \(repeats); those before passed"])
    }
    guard let difference = next.transcript.firstDifference(from: first.transcript) else {
      return nil
    }
    return ConversationFailure(
      file: file, line: difference.source,
      summary: "play \(number) of \(repeats) went another way than the first",
      details: [
        "line \(difference.number) of the transcript",
        "in play 1: \(difference.other)", "in play \(number): \(difference.own)",
      ])
  }
}
