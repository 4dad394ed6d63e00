// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports
import Conversations
import Foundation
import Logging
import ServerCore
import TestSupport
import Testing
import Transports

@testable import StatewireServer
@testable import statewire

@Suite("Conversations, including the examples of PROTOCOL.md")
struct ConversationTests {
  static let files: [String] = {
    let folder = TestedPackage.root.appending(path: "Protocol/Conversations")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".conversation") }.sorted()
      .map { folder.appending(path: $0).path } + [
        TestedPackage.root.appending(path: "PROTOCOL.md").path
      ]
  }()

  @Test(
    "each conversation passes over stdio", .timeLimit(.minutes(15)), arguments: files,
    ["lines", "headers"])
  func overStdio(file: String, framing: String) async throws {
    try await check(
      file, framing,
      .command(
        ServerCommand(
          [
            Program.path, "serve", "--log-level", "warning", "--data-dir", "{folder}",
            "--time-to-first-request", "0",
          ],
          listening: ["--unix", "{socket}"])))
  }

  @Test(
    "each conversation passes over TCP", .timeLimit(.minutes(15)), arguments: files,
    ["lines", "headers"])
  func overTCP(file: String, framing: String) async throws {
    try await overSocket(.tcp(host: "127.0.0.1", port: 0), file, framing)
  }

  // The excluded files are about the framing of bytes.
  static let ofMessages = files.filter { !$0.contains("/bad-") }

  @Test(
    "each conversation passes over a WebSocket", .timeLimit(.minutes(15)), arguments: ofMessages)
  func overWebSocket(file: String) async throws {
    try await overSocket(.web(host: "127.0.0.1", port: 0), file, "lines")
  }

  private func overSocket(
    _ address: ServerAddress, _ file: String, _ framing: String
  ) async throws {
    // One conversation after another, each with a new database.
    let folder = try TestFolder()
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let count = try ConversationParser.conversations(in: Array(text.utf8), file: file).count
    for index in 0..<count {
      let alone = ConversationTests.alone(index, text, file)
      var configuration = try ConversationTests.options(in: alone).configuration(
        of: Statewire.self, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      configuration.listeners = [address]
      configuration.handlesSignals = false
      // All tests run at the same time, so a test may wait long for the processor.
      configuration.limits.timeToFirstRequest = nil
      configuration.dataFolder = "\(folder.path)/\(index)"
      let parts = try #require(await ServerParts.open(configuration))
      let one = folder.url.appending(path: "\(index).conversation").path
      try alone.write(toFile: one, atomically: true, encoding: .utf8)
      try await check(one, framing, .address(parts.server.addresses[0]))
      await parts.close()
    }
  }

  private func check(
    _ file: String, _ framing: String, _ server: ConversationRun.Server
  ) async throws {
    let framing = try #require(ClientConnection.Framing(name: framing))
    let reports = Record<String>()
    let run = ConversationRun(server: server, framing: framing, wait: .seconds(60)) {
      reports.add($0)
    }
    let tally = await run.play([file])
    let text = reports.all.joined(separator: "\n")
    #expect(tally.failed == 0, "\(text)")
    #expect(tally.passed > 0)
  }

  /// Returns the options that a conversation passes to its server: `--test`, and limits of lists.
  private static func options(in text: String) throws -> ServeOptions {
    let words = text.split(separator: "\n").filter { $0.hasPrefix("@server ") }
      .flatMap { $0.split(separator: " ").dropFirst().map(String.init) }
    return try ServeCommand<Statewire>.parse(words).options()
  }

  /// Returns the text of one conversation of a file.
  private static func alone(_ index: Int, _ text: String, _ file: String) -> String {
    guard file.hasSuffix(".md") else { return text }
    let block = text.components(separatedBy: "```conversation\n")[index + 1]
    return block.components(separatedBy: "```")[0]
  }
}
