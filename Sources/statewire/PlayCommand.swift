// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import Foundation
import StatewireServer

/// The command `statewire play`: plays scripted conversations against a server.
struct Play: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Plays scripted conversations against a server.",
    discussion: """
      A file is a conversation, or Markdown with code blocks of the language "conversation". \
      Without --spawn and --connect, each conversation gets a server of this program with an empty \
      data folder. Protocol/Conversations/README.md describes the format.

      With UPDATE_CONVERSATIONS=1 in the environment, messages that differ from the expected ones \
      replace them in the files.

      The last line is "N passed, N failed". The exit code is 0 if none failed, 2 if a file could \
      not be read or parsed, otherwise 1. A signal ends the program without that line.
      """)

  @Argument(
    help: ArgumentHelp(
      "Conversations (.conversation), or Markdown files (.md) that contain some.",
      valueName: "file"))
  var files: [String]

  @Option(
    help: ArgumentHelp(
      "Start this server for each conversation, and use its standard input and output.",
      discussion: """
        The command is split into words as in a shell. {folder} is replaced by a new folder. With \
        {socket}, the conversation uses that Unix socket.
        """,
      valueName: "command"))
  var spawn: String?

  @Option(
    help: ArgumentHelp(
      "Connect to a running server.",
      discussion:
        "HOST:PORT, tls://HOST:PORT, ws://HOST:PORT, wss://HOST:PORT, unix:PATH, or a path with /.",
      valueName: "address"))
  var connect: String?

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp(
      "Framing of conversations that do not select one.", valueName: "lines|headers"))
  var framing = ClientConnection.defaultFraming.name

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds to wait for a message, unless the conversation sets a time.", valueName: "seconds"))
  var wait: Double = 5

  @Option(
    help: ArgumentHelp(
      "Wait for the pauses of recorded conversations (@pause).",
      discussion: "max: no pauses; real: the recorded ones; 10: ten times as fast.",
      valueName: "max|real|factor"))
  var speed = "max"

  @OptionGroup var given: GivenOptions

  @Option(
    help: ArgumentHelp(
      "Write a transcript to this file: all sent and received messages, one per line.",
      valueName: "file"))
  var transcript: String?

  @Option(
    name: .customLong("repeat"), parsing: .unconditional,
    help: ArgumentHelp(
      "Number of times to play each conversation; it fails if a transcript differs from the first.",
      valueName: "count"))
  var repeats = 1

  @Flag(help: "Show each sent and received message.")
  var verbose = false

  func validate() throws {
    _ = try server()
    guard ClientConnection.Framing(name: framing) != nil else {
      throw ValidationError("--framing must be lines or headers")
    }
    guard wait > 0, wait <= 3600 else {
      throw ValidationError("--wait must be more than 0 and at most 3600")
    }
    try trust.validate(isSecure: connect.flatMap(ServerAddress.init)?.isSecure == true)
    guard Pace(speed) != nil else {
      throw ValidationError("--speed must be max, real or a factor such as 10")
    }
    guard repeats >= 1 else { throw ValidationError("--repeat must be at least 1") }
  }

  func run() async throws {
    let run = ConversationRun(
      server: try server(),
      framing: ClientConnection.Framing(name: framing) ?? ClientConnection.defaultFraming,
      wait: .seconds(wait),
      pace: Pace(speed) ?? .maximum,
      given: try given.values(),
      isUpdating: ProcessInfo.processInfo.environment["UPDATE_CONVERSATIONS"] == "1",
      isVerbose: verbose,
      transcript: transcript,
      repeats: repeats
    ) { Output.show($0) }
    let files = files
    let tally = try await untilSignal {
      await run.play(files)
    } interrupted: {
      throw ExitCode(128 + $0)
    }
    Output.show(tally.summary)
    if tally.exitCode != 0 { throw ExitCode(tally.exitCode) }
  }

  /// Returns the server that the options select.
  ///
  /// - Throws: `ValidationError`.
  private func server() throws -> ConversationRun.Server {
    switch (spawn, connect) {
    case (nil, nil):
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      return .command(
        ServerCommand(
          [program, "serve", "--log-level", "warning", "--data-dir", "{folder}"],
          listening: ["--unix", "{socket}"]))
    case (let command?, nil):
      do {
        let words = try CommandWords.split(command)
        guard !words.isEmpty else { throw ValidationError("--spawn must name a program") }
        return .command(ServerCommand(words))
      } catch let fault as CommandWords.Fault {
        throw ValidationError("--spawn: \(fault)")
      }
    case (nil, let text?):
      guard let address = ServerAddress(text) else {
        throw ValidationError(
          "--connect must be HOST:PORT, tls://…, ws://…, wss://…, unix:PATH or a path with a slash")
      }
      return .address(address, trust.trust)
    case (_?, _?):
      throw ValidationError("pass either --spawn or --connect, not both")
    }
  }
}
