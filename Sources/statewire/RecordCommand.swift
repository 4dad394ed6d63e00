// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import Foundation
import Glibc
import StatewireJSON
import StatewireServer
import TransportSupport

/// The command `statewire record`: relays between clients and a server, and records a conversation.
struct Record: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Relays between clients and a server, and records a conversation.",
    usage: """
      statewire record --listen <address> --connect <address> --output <file>
      statewire record --output <file> -- <command> ...
      """,
    discussion: """
      The bytes are passed on unchanged. With a command, the clients' side is standard input and \
      output: a client that starts a server can start this instead.

      Secrets are redacted: tokens, session handles, and what the server describes as secret. The \
      server is asked for its description (rpc.discover) over a connection of its own, with the token of \
      --token-file, a command PROGRAM serve … by PROGRAM schema. Values of stores that are not described are redacted.

      SIGINT and SIGTERM end the recording; the file is complete up to each message that was \
      passed on. Protocol/Conversations/README.md describes what is recorded.
      """)

  @Option(
    help: ArgumentHelp(
      "Accept clients at this address.",
      discussion: "HOST:PORT, ws://HOST:PORT, unix:PATH, or a path with /.", valueName: "address"))
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "Connect to the server at this address, for each client.",
      discussion:
        "HOST:PORT, tls://HOST:PORT, ws://HOST:PORT, wss://HOST:PORT, unix:PATH, or a path with /.",
      valueName: "address"))
  var connect: String?

  @Option(
    help: ArgumentHelp(
      "The file to write. {process} in its name is replaced by the number of the process.",
      valueName: "file"))
  var output: String

  @Option(
    name: .customLong("secret"),
    help: ArgumentHelp(
      "Redact the members with this name in all messages, at any depth.", valueName: "name"))
  var secrets: [String] = []

  @Option(
    help: ArgumentHelp(
      "The description of the server, from its command schema, instead of asking it.",
      valueName: "file"))
  var description: String?

  @OptionGroup var tokenFile: TokenFileOption

  @Flag(help: "Record the values of stores that the server does not describe.")
  var keepUndescribed = false

  @OptionGroup var trust: TrustOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The program to start, and its arguments.", valueName: "command"))
  var command: [String] = []

  func validate() throws { _ = try relayed() }

  func run() async throws {
    let run = RecordingRun(
      try relayed(), output: output,
      secrets: ServerSecrets(names: secrets, keepsUndescribed: keepUndescribed),
      description: try description.map { try JSONValue(parsing: Self.read($0, "--description")) },
      token: try tokenFile.token()
    ) { Output.writeError("record: \($0)") }
    let code = try await untilSignal {
      try await run.run()
    } interrupted: { [command] number in
      // A signal is the normal end between clients and a running server.
      guard command.isEmpty else { throw ExitCode(128 + number) }
      return 0
    }
    if code != 0 { throw ExitCode(code) }
  }

  private static func read(_ path: String, _ option: String) throws -> [UInt8] {
    do throws(WholeFile.Fault) {
      return try WholeFile(path).bytes
    } catch {
      throw ValidationError("\(option): \(path) cannot be read: \(error)")
    }
  }

  /// Returns the two sides that the options select.
  ///
  /// - Throws: `ValidationError`.
  private func relayed() throws -> RecordingRun.Relayed {
    guard command.isEmpty else {
      guard listen == nil, connect == nil else {
        throw ValidationError("pass either --listen and --connect, or -- COMMAND")
      }
      try trust.validate(isSecure: false)
      return .command(command)
    }
    guard let listen, let connect else {
      throw ValidationError("pass --listen and --connect, or -- COMMAND")
    }
    guard let listener = ServerAddress(listen), let server = ServerAddress(connect) else {
      throw ValidationError(
        "--listen and --connect must be HOST:PORT, ws://HOST:PORT, unix:PATH or a path with a slash"
      )
    }
    switch listener {
    case .tls, .secureWeb: throw ValidationError("--listen cannot use TLS")
    case .tcp, .unix, .web: break
    }
    guard listener.isWeb == server.isWeb else {
      throw ValidationError(
        "--listen and --connect must both be WebSockets (ws://…), or neither: bytes are not changed"
      )
    }
    try trust.validate(isSecure: server.isSecure)
    return .sockets(listener: listener, server: server, trust.trust)
  }
}
