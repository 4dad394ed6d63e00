// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import Foundation
import StatewireJSON
import StatewireServer
import TransportSupport

/// The command `statewire load`: plays the client's side of a conversation from many clients.
struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Plays a conversation from many clients, and measures latencies.",
    discussion: """
      All clients together send --rate messages in a second, whether responses arrive or not. A \
      latency is the time from when a request was to be sent until its response, so a server that \
      stops is seen in full. A message waits only for a value of the server in it, such as a handle; \
      other expected messages are not compared.

      The exit code is 0 if each message was sent and each request has a response, which may be an \
      error, otherwise 1; 2 if the file could not be read or parsed.
      """)

  @Argument(help: ArgumentHelp("A conversation (.conversation).", valueName: "file"))
  var file: String

  @Option(
    help: ArgumentHelp(
      "Connect to a running server.",
      discussion:
        "HOST:PORT, tls://HOST:PORT, ws://HOST:PORT, wss://HOST:PORT, unix:PATH, or a path with /.",
      valueName: "address"))
  var connect: String

  @Option(help: ArgumentHelp("Number of clients at a time.", valueName: "count"))
  var clients = 1

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Messages of all clients in a second.", valueName: "messages"))
  var rate: Double

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds to send for; clients begin again over new connections. (default: play once)",
      valueName: "seconds"))
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      "Framing, if the conversation does not select one.", valueName: "lines|headers"))
  var framing = ClientConnection.defaultFraming.name

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds to wait for values and, at the end, for responses.", valueName: "seconds"))
  var wait: Double = 5

  @OptionGroup var given: GivenOptions
  @OptionGroup var trust: TrustOptions

  @Flag(help: "Print the report as JSON.")
  var json = false

  func validate() throws {
    guard (1...100_000).contains(clients) else {
      throw ValidationError("--clients must be 1 to 100000")
    }
    guard rate > 0, rate <= 10_000_000 else {
      throw ValidationError("--rate must be more than 0 and at most 10000000")
    }
    for (name, seconds) in [("--duration", duration ?? 1), ("--wait", wait)] {
      guard seconds > 0, seconds <= 1_000_000 else {
        throw ValidationError("\(name) must be more than 0 and at most 1000000")
      }
    }
    guard ClientConnection.Framing(name: framing) != nil else {
      throw ValidationError("--framing must be lines or headers")
    }
    guard let address = ServerAddress(connect) else {
      throw ValidationError(
        "--connect must be HOST:PORT, tls://…, ws://…, wss://…, unix:PATH or a path with a slash")
    }
    try trust.validate(isSecure: address.isSecure)
  }

  func run() async throws {
    let load = try run(of: try conversation())
    let report = try await untilSignal {
      await load.run()
    } interrupted: {
      throw ExitCode(128 + $0)
    }
    if json { try Output.writeLine(report.json.bytes) } else { Output.show(report.text) }
    if !report.isComplete { throw ExitCode.failure }
  }

  private func conversation() throws -> Conversation {
    do {
      let text = try WholeFile(file).bytes
      let conversations = try ConversationParser.conversations(in: text, file: file.printable)
      guard conversations.count == 1 else {
        throw LoadFault("\(file): there are several conversations")
      }
      return conversations[0]
    } catch {
      Output.writeError(
        error is WholeFile.Fault ? "\(file): cannot be read: \(error)" : "\(error)")
      throw ExitCode(2)
    }
  }

  private func run(of conversation: Conversation) throws -> LoadRun {
    guard let address = ServerAddress(connect) else { throw ExitCode.validationFailure }
    let framing = conversation.framing ?? ClientConnection.Framing(name: framing)
    let trust = trust.trust
    return try LoadRun(
      conversation, clients: clients, rate: rate, duration: duration.map { .seconds($0) },
      given: try given.values(), patience: .seconds(wait)
    ) {
      try await ClientConnection.connect(
        to: address, framing: framing ?? ClientConnection.defaultFraming, trust: trust)
    }
  }
}
