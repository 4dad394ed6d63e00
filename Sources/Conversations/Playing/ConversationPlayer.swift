// SPDX-License-Identifier: Apache-2.0

/// Plays conversations against a server.
public struct ConversationPlayer: Sendable {
  /// Opens the connection of a name; the one without a name is "".
  public typealias Connect = @Sendable (String) async throws -> any ConversationChannel

  /// How long a message is waited for where the conversation does not say (`@wait`).
  public static let defaultWait = Duration.seconds(5)

  private let wait: Duration
  private let timer: ConversationTimer
  private let connect: Connect

  /// - Parameters:
  ///   - wait: How long each expectation, and each thing that is sent, may take.
  ///   - timer: What waits that long.
  ///   - connect: Called when a conversation first uses a connection, and when it uses one again
  ///     that it has closed.
  public init(
    wait: Duration = ConversationPlayer.defaultWait,
    timer: @escaping ConversationTimer = { try await Task.sleep(for: $0) },
    connect: @escaping Connect
  ) {
    self.wait = wait
    self.timer = timer
    self.connect = connect
  }

  /// Plays a conversation up to its end or the first step that goes another way.
  ///
  /// All its connections are closed when this returns. What the server sends behind the last thing
  /// that is expected from it is not looked at.
  public func play(_ conversation: Conversation) async -> ConversationOutcome {
    await perform(conversation, recording: false).outcome
  }

  /// Plays a conversation and takes what comes for what was expected.
  ///
  /// - Returns: What to write in place of the values that were not matched; and a failure if
  ///   something happened that no value can be written for, such as a message that never came.
  public func record(
    _ conversation: Conversation
  ) async -> (outcome: ConversationOutcome, rewrites: [Rewrite]) {
    let played = await perform(conversation, recording: true)
    return (played.outcome, played.rewrites)
  }

  /// Plays a conversation, and tells what went over the wire as well.
  func perform(
    _ conversation: Conversation, recording: Bool
  ) async -> PlayedConversation {
    var performance = Performance(
      conversation: conversation, wait: wait, timer: timer, connect: connect,
      isRecording: recording)
    var outcome = ConversationOutcome.passed
    do throws(ConversationFailure) {
      for step in conversation.steps { try await performance.perform(step) }
    } catch {
      outcome = .failed(error)
    }
    await performance.closeAll()
    return PlayedConversation(
      outcome: outcome, rewrites: performance.rewrites, transcript: performance.transcript)
  }
}
