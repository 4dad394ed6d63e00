// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import Foundation
import Glibc
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

  @Option(
    help: ArgumentHelp(
      "Over TLS, trust servers with a certificate of one of these authorities, in PEM.",
      valueName: "file"))
  var tlsCa: String?

  @Option(
    help: ArgumentHelp("Over TLS, send this certificate to the server, in PEM.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("Private key of the certificate, in PEM.", valueName: "file"))
  var tlsKey: String?

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
    guard [tlsCa, tlsCert, tlsKey].allSatisfy({ $0 == nil }) || isSecure else {
      throw ValidationError("--tls-… requires --connect tls://… or wss://…")
    }
    guard (tlsCert == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-cert and --tls-key must be passed together")
    }
    guard repeats >= 1 else { throw ValidationError("--repeat must be at least 1") }
  }

  func run() async throws {
    let run = ConversationRun(
      server: try server(),
      framing: ClientConnection.Framing(name: framing) ?? ClientConnection.defaultFraming,
      wait: .seconds(wait),
      isUpdating: ProcessInfo.processInfo.environment["UPDATE_CONVERSATIONS"] == "1",
      isVerbose: verbose,
      transcript: transcript,
      repeats: repeats
    ) { Output.show($0) }
    let tally = try await play(run)
    Output.show(tally.summary)
    if tally.exitCode != 0 { throw ExitCode(tally.exitCode) }
  }

  /// True if the connection uses TLS.
  private var isSecure: Bool {
    switch connect.flatMap(ServerAddress.init) {
    case .tls, .secureWeb: true
    case .tcp, .web, .unix, nil: false
    }
  }

  /// Plays the files until a signal arrives: a started server must not outlive this program.
  private func play(_ run: ConversationRun) async throws -> ConversationRun.Tally {
    let (signals, signal) = AsyncStream.makeStream(of: CInt.self)
    let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !ProcessSignals.isIgnored($0) }
    let watch = try ProcessSignals(numbers) { signal.yield($0) }
    defer { watch.end() }
    return try await withThrowingTaskGroup(of: ConversationRun.Tally.self) { group in
      group.addTask { await run.play(files) }
      group.addTask {
        for await number in signals { throw ExitCode(128 + number) }
        throw CancellationError()
      }
      defer { group.cancelAll() }
      for try await tally in group { return tally }
      throw CancellationError()
    }
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
      var trust = ClientTrust()
      (trust.authority, trust.certificate, trust.key) = (tlsCa, tlsCert, tlsKey)
      return .address(address, trust)
    case (_?, _?):
      throw ValidationError("pass either --spawn or --connect, not both")
    }
  }
}
