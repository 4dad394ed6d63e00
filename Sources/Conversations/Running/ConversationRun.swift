// SPDX-License-Identifier: Apache-2.0

public import ClientTransports
import StatewireJSON

/// A run of `statewire play`: plays the conversations of files one after the other and reports the
/// outcomes.
public struct ConversationRun: Sendable {
  /// The server to play against.
  public enum Server: Sendable {
    /// A running server; it keeps its state from one conversation to the next. For TLS the trust
    /// verifies its certificate.
    case address(ServerAddress, ClientTrust = ClientTrust())
    /// A command that starts a new server for each conversation.
    case command(ServerCommand)
  }

  /// The numbers of outcomes.
  public struct Tally: Sendable, Equatable {
    /// The number of conversations that passed.
    public internal(set) var passed = 0
    /// The number of conversations that failed, and of files that could not be used.
    public internal(set) var failed = 0
    /// The number of failures that are files that could not be read or parsed.
    public internal(set) var unreadable = 0

    /// The text `N passed, N failed`.
    public var summary: String { "\(passed) passed, \(failed) failed" }

    /// The exit code: 0 if nothing failed, 2 if a file could not be read or parsed, otherwise 1.
    public var exitCode: Int32 { unreadable > 0 ? 2 : failed > 0 ? 1 : 0 }
  }

  private let server: Server
  private let framing: ClientConnection.Framing
  private let wait: Duration
  private let pace: Pace
  private let given: GivenValues
  private let isUpdating: Bool
  private let isVerbose: Bool
  private let transcript: String?
  let repeats: Int
  private let report: @Sendable (String) async -> Void

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - server: The server to play against.
  ///   - framing: The framing for conversations that do not set one.
  ///   - wait: The longest wait for conversations that do not set one.
  ///   - pace: The speed of the pauses in conversations.
  ///   - given: The values of the names that conversations declare with `@given`.
  ///   - isUpdating: True to rewrite files so that they expect the received messages.
  ///   - isVerbose: True to report each message when it is sent or received.
  ///   - transcript: The path of the file to write the transcript to; see `Transcript`.
  ///   - repeats: The number of plays of each conversation, at least 1. A conversation fails if the
  ///     transcript of a play differs from that of the first one, which is the one that is written.
  ///   - report: Takes a few lines about each conversation.
  public init(
    server: Server, framing: ClientConnection.Framing = ClientConnection.defaultFraming,
    wait: Duration = ConversationPlayer.defaultWait, pace: Pace = .maximum,
    given: GivenValues = GivenValues(), isUpdating: Bool = false,
    isVerbose: Bool = false, transcript: String? = nil, repeats: Int = 1,
    report: @escaping @Sendable (String) async -> Void
  ) {
    self.server = server
    self.framing = framing
    self.wait = wait
    self.pace = pace
    self.given = given
    self.isUpdating = isUpdating
    self.isVerbose = isVerbose
    self.transcript = transcript
    self.repeats = repeats
    self.report = report
  }

  /// Plays all conversations, or until the task is cancelled. All started servers have ended when
  /// this function returns.
  public func play(_ files: [String]) async -> Tally {
    var tally = Tally()
    let transcripts: TranscriptFile?
    do {
      transcripts = try transcript.map(TranscriptFile.init)
    } catch {
      tally.countUnreadable()
      await report("failed  \(transcript?.printable ?? ""): \(error)")
      return tally
    }
    for file in files where !Task.isCancelled {
      let name = file.printable
      do {
        let text = try TextFile.read(file)
        let conversations = try ConversationParser.conversations(in: text, file: name)
        var rewrites: [Rewrite] = []
        for conversation in conversations {
          let played = await playRepeatedly(conversation)
          // An interrupted play gives no information about the server.
          if Task.isCancelled { break }
          rewrites += played.rewrites
          try transcripts?.add(played.transcript, of: conversation)
          tally.count(played.outcome)
          await report(conversation, played.outcome)
        }
        if !rewrites.isEmpty {
          try TextFile.rewrite(Rewrite.apply(rewrites, to: text), to: file)
          await report("updated \(name): \(rewrites.count) of its expected values")
        }
      } catch {
        tally.countUnreadable()
        await report("failed  \(error is ConversationError ? "" : "\(name): ")\(error)")
      }
    }
    return tally
  }

  private func report(_ conversation: Conversation, _ outcome: ConversationOutcome) async {
    switch outcome {
    case .passed:
      let times = repeats > 1 ? ", identical in \(repeats) plays" : ""
      await report("passed  \(conversation.place)\(times)")
    case .failed(let failure):
      let lines = failure.description.split(separator: "\n").map { "  " + $0 }
      await report((["failed  \(conversation.place)"] + lines).joined(separator: "\n"))
    }
  }
}

extension ConversationRun.Tally {
  fileprivate mutating func count(_ outcome: ConversationOutcome) {
    switch outcome {
    case .passed: passed += 1
    case .failed: failed += 1
    }
  }

  fileprivate mutating func countUnreadable() {
    failed += 1
    unreadable += 1
  }
}

// MARK: - One conversation

extension ConversationRun {
  func play(_ conversation: Conversation) async -> PlayedConversation {
    let framing = conversation.framing ?? framing
    switch server {
    case .address(let address, let trust):
      return await play(conversation) { _ in
        try await ClientConnection.connect(to: address, framing: framing, trust: trust)
      }
    case .command(let command):
      do {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await play(conversation, command, framing, in: folder)
      } catch {
        return conversation.notStarted("the server could not be started: \(error)")
      }
    }
  }

  private func play(
    _ conversation: Conversation, _ command: ServerCommand, _ framing: ClientConnection.Framing,
    in folder: TemporaryFolder
  ) async throws -> PlayedConversation {
    guard let words = command.words(for: conversation) else {
      let why =
        "several connections need a server that listens: write \(ServerCommand.socket) where its "
        + "command names a Unix socket, or connect to a running one"
      return conversation.notStarted(why)
    }
    let socket = folder.path + "/socket"
    let listens = words.contains { $0.contains(ServerCommand.socket) }
    let filled = words.map {
      $0.replacing(ServerCommand.socket, with: socket)
        .replacing(ServerCommand.folder, with: folder.path)
    }
    guard listens else {
      return await play(conversation) { _ in
        try await ClientConnection.spawn(filled, framing: framing)
      }
    }
    let process = try await ClientConnection.spawn(filled, framing: framing)
    let played = await play(conversation) { [wait] _ in
      try await Self.connect(to: socket, of: process, framing: framing, within: wait)
    }
    // A listening server may ignore the end of its standard input.
    await process.close(patience: .zero)
    return played
  }

  /// Connects to a server that may not listen yet; tries again until the time has passed, or until the
  /// server has ended with an error.
  private static func connect(
    to socket: String, of process: ClientConnection, framing: ClientConnection.Framing,
    within time: Duration
  ) async throws -> ClientConnection {
    let deadline = ContinuousClock.now + time
    while true {
      do {
        return try await ClientConnection.connect(to: .unix(path: socket), framing: framing)
      } catch {
        if await process.programHasFailed() { throw ServerFailed() }
        guard ContinuousClock.now < deadline else { throw error }
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  private func play(
    _ conversation: Conversation, _ connect: @escaping ConversationPlayer.Connect
  ) async -> PlayedConversation {
    let hidden = given.bindings(of: conversation.givenNames).given
    let player = ConversationPlayer(wait: wait, pace: pace, given: given) {
      [isVerbose, report] name in
      let channel = try await connect(name)
      return isVerbose
        ? ReportingChannel(channel: channel, name: name, hidden: hidden, report: report) : channel
    }
    return await player.perform(conversation, recording: isUpdating)
  }
}

/// The server of a conversation has ended with an error before it had a connection.
private struct ServerFailed: Error, CustomStringConvertible {
  var description: String { "the server has ended with an error" }
}

extension Conversation {
  /// The start of the conversation as `file:line`, for people.
  var place: String { "\(file):\(line)" }

  fileprivate func notStarted(_ why: String) -> PlayedConversation {
    let failure = ConversationFailure(file: file, line: line, summary: why, details: [])
    return PlayedConversation(outcome: .failed(failure))
  }
}
