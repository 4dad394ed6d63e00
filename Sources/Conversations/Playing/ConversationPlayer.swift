// SPDX-License-Identifier: Apache-2.0

/// A player of conversations against a server.
public struct ConversationPlayer: Sendable {
  /// A function that opens the connection with a name; the connection without a name is "".
  public typealias Connect = @Sendable (String) async throws -> any ConversationChannel

  /// The time to wait for a message if the conversation does not set one (`@wait`): 5 s.
  public static let defaultWait = Duration.seconds(5)

  private let wait: Duration
  private let pace: Pace
  private let given: GivenValues
  private let timer: ConversationTimer
  private let connect: Connect

  /// Creates a player.
  ///
  /// - Parameters:
  ///   - wait: The longest time for each expectation and for each send.
  ///   - pace: The speed of the pauses in conversations.
  ///   - given: The values of the names that conversations declare with `@given`.
  ///   - timer: Waits for a duration.
  ///   - connect: Opens a connection. It is called when a conversation first uses the connection,
  ///     and when it uses the connection again after closing it.
  public init(
    wait: Duration = ConversationPlayer.defaultWait, pace: Pace = .maximum,
    given: GivenValues = GivenValues(),
    timer: @escaping ConversationTimer = { try await Task.sleep(for: $0) },
    connect: @escaping Connect
  ) {
    self.wait = wait
    self.pace = pace
    self.given = given
    self.timer = timer
    self.connect = connect
  }

  /// Plays a conversation up to its end or to the first step that fails.
  ///
  /// All connections are closed when this function returns. Messages after the last expectation are
  /// not read.
  public func play(_ conversation: Conversation) async -> ConversationOutcome {
    await perform(conversation, recording: false).outcome
  }

  /// Plays a conversation and records the received messages as the expected ones.
  ///
  /// - Returns: The rewrites of the values that did not match; and a failure if a step failed for
  ///   which no value can be written, for example because a message never came.
  public func record(
    _ conversation: Conversation
  ) async -> (outcome: ConversationOutcome, rewrites: [Rewrite]) {
    let played = await perform(conversation, recording: true)
    return (played.outcome, played.rewrites)
  }

  /// Plays a conversation, and returns its transcript too.
  func perform(
    _ conversation: Conversation, recording: Bool
  ) async -> PlayedConversation {
    var performance = Performance(
      conversation: conversation, wait: wait, pace: pace, timer: timer, connect: connect,
      isRecording: recording)
    performance.bindings = given.bindings(of: conversation.givenNames)
    var outcome = ConversationOutcome.passed
    do throws(ConversationFailure) {
      if let name = given.missing(of: conversation.givenNames) {
        throw performance.failure(
          conversation.line, "the conversation needs a value of <\(name)>",
          ["pass --given \(name)=FILE, a file whose first line is the value"])
      }
      for step in conversation.steps { try await performance.perform(step) }
    } catch {
      outcome = .failed(error)
    }
    await performance.closeAll()
    return PlayedConversation(
      outcome: outcome, rewrites: performance.rewrites, transcript: performance.transcript)
  }
}
