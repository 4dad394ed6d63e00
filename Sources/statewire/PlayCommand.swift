// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import Foundation
import Glibc
import StatewireServer

/// `statewire play`: plays scripted conversations against a server.
struct Play: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Play scripted conversations against a server.",
    discussion: """
      A file is a conversation, or Markdown with blocks ```conversation in it. Without --spawn and \
      --connect, each conversation gets a server of this program with an empty data folder. The \
      format is described in Protocol/Conversations/README.md.

      With UPDATE_CONVERSATIONS=1 in the environment, what came instead of something expected is \
      written into the files.

      The last line is "N passed, N failed". The exit code is 0 if none failed, 2 if a file could \
      not be read or understood, otherwise 1. A signal ends it without that line.
      """)

  @Argument(help: "Conversations (.conversation), or Markdown files (.md) that hold some.")
  var files: [String]

  @Option(
    help: ArgumentHelp(
      "Start this server for each conversation, and talk over its standard streams.",
      discussion: """
        Split into words as a shell does. {folder} in it is a new folder; with {socket} in it, the \
        server is talked to over that Unix socket.
        """,
      valueName: "command"))
  var spawn: String?

  @Option(
    help: ArgumentHelp(
      "Talk to a running server.",
      discussion:
        "At HOST:PORT, tls://HOST:PORT, ws://HOST:PORT, wss://HOST:PORT, unix:PATH or a path with a slash."
    ))
  var connect: String?

  @Option(
    help: ArgumentHelp(
      "Over TLS, take for the server whose certificate one of these has signed, in PEM.",
      valueName: "file"))
  var tlsCa: String?

  @Option(
    help: ArgumentHelp("Over TLS, show this certificate to the server.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("The key of the certificate.", valueName: "file"))
  var tlsKey: String?

  @Option(help: "Talk in lines or headers, where a conversation does not ask for one of them.")
  var framing = ClientConnection.defaultFraming.name

  @Option(
    parsing: .unconditional,
    help: "How many seconds to wait for a message, where a conversation does not say.")
  var wait: Double = 5

  @Option(
    help: ArgumentHelp(
      "Write what goes over the wire into this file: each message in a line, as its bytes were.",
      valueName: "file"))
  var transcript: String?

  @Option(
    name: .customLong("repeat"), parsing: .unconditional,
    help: "Play each conversation so often; it fails if a transcript differs from the first.")
  var repeats = 1

  @Flag(help: "Show each message as it goes over the wire.")
  var verbose = false

  func validate() throws {
    _ = try server()
    guard ClientConnection.Framing(name: framing) != nil else {
      throw ValidationError("--framing is lines or headers")
    }
    guard wait > 0, wait <= 3600 else {
      throw ValidationError("--wait is more than 0 and at most 3600")
    }
    guard [tlsCa, tlsCert, tlsKey].allSatisfy({ $0 == nil }) || isSecure else {
      throw ValidationError("--tls-… goes with --connect tls://… or wss://…")
    }
    guard (tlsCert == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-cert and --tls-key go together")
    }
    guard repeats >= 1 else { throw ValidationError("--repeat is at least 1") }
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

  /// Whether it is spoken over TLS.
  private var isSecure: Bool {
    switch connect.flatMap(ServerAddress.init) {
    case .tls, .secureWeb: true
    case .tcp, .web, .unix, nil: false
    }
  }

  /// Plays, unless a signal comes first: a server that was started must not outlive this.
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
        guard !words.isEmpty else { throw ValidationError("--spawn names no program") }
        return .command(ServerCommand(words))
      } catch let fault as CommandWords.Fault {
        throw ValidationError("--spawn: \(fault)")
      }
    case (nil, let text?):
      guard let address = ServerAddress(text) else {
        throw ValidationError(
          "--connect is HOST:PORT, tls://…, ws://…, wss://…, unix:PATH or a path with a slash")
      }
      var trust = ClientTrust()
      (trust.authority, trust.certificate, trust.key) = (tlsCa, tlsCert, tlsKey)
      return .address(address, trust)
    case (_?, _?):
      throw ValidationError("either --spawn or --connect")
    }
  }
}
