// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import FoundationNetworking
import ServerCore
import StatewireJSON
import TestSupport
import Testing
import Transports

/// The program of the stopwatch example, as its user starts it.
@Suite("The stopwatch server", .timeLimit(.minutes(15)))
struct StopwatchServerTests {
  private static let path = TestedPackage.program("Stopwatch")

  private static let subscription =
    #"{"jsonrpc":"2.0","id":1,"method":"store/subscribe","params":{"store":"stopwatch"}}"#
  private static let start =
    #"{"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":"stopwatch","#
    + #""input":{"type":"startTapped"}}}"#

  @Test("has the command line of statewire, with its own kind alone")
  func help() throws {
    let help = try run(["serve", "--help"])
    #expect(help.status == 0)
    for option in ["--tcp <host:port>", "--token-file <file>", "--data-dir", "--maximum-depth"] {
      #expect(help.output.contains(option), "\(help.output)")
    }
    #expect(help.output.contains("USAGE: stopwatch-server serve"))
    for words in [["--help"], ["help"]] {
      let help = try run(words)
      #expect(help.status == 0 && help.output.contains("OVERVIEW: Serves a stopwatch."))
      #expect(help.output.contains("USAGE: stopwatch-server <subcommand>"), "\(help.output)")
      #expect(help.output.contains("--version") && !help.output.contains("statewire"))
    }
    for words in [["--version"], ["serve", "--version"]] {
      let version = try run(words)
      #expect(version.status == 0 && version.output == "1.0.0\n", "\(version.output)")
    }
    // Options of the built-in kinds would have no effect.
    for option in ["--balance-url", "--maximum-todos"] { #expect(!help.output.contains(option)) }
    let schema = try run(["schema"])
    #expect(schema.status == 0)
    let stores = try #require(try JSONValue(parsing: schema.output)["x-stores"]?.object)
    #expect(stores.count == 1 && stores["stopwatch"] != nil, "\(schema.output.prefix(400))")
  }

  @Test("serves standard input and output, and ends with its input")
  func stdio() throws {
    let result = try run(["serve"], input: "\(Self.subscription)\n\(Self.start)\n")
    #expect(result.status == 0)
    #expect(result.output.contains(#""path":"/isRunning","value":true"#), "\(result.output)")
    #expect(result.output.hasSuffix(#""id":2,"result":{"revision":1,"changed":true}}"# + "\n"))
  }

  @Test("serves clients that show a token, and ends with 0 at SIGTERM")
  func terminated() async throws {
    let folder = try TestFolder()
    let tokens = folder.path + "/tokens"
    try "anna 0123456789abcdef\n".write(toFile: tokens, atomically: true, encoding: .utf8)
    #expect(chmod(tokens, 0o600) == 0)
    let process = process([
      "serve", "--tcp", "127.0.0.1:0", "--token-file", tokens, "--data-dir", folder.path + "/data",
    ])
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let line = try errors.fileHandleForReading.read(untilLineWith: "listening on ").line
    let address = try #require(
      line.split(separator: " ").last.flatMap { ServerAddress(String($0)) })

    let unidentified = try await ClientConnection.connect(to: address, framing: .lines)
    #expect(try await response(to: Self.subscription, from: unidentified)["error"] != nil)
    await unidentified.close()

    let client = try await ClientConnection.connect(to: address, framing: .lines)
    let greeting = try await response(
      to: #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"token":"0123456789abcdef"}}"#,
      from: client)
    #expect(
      greeting[try JSONPointer(parsing: "/result/server/name")] == "stopwatch-server", "\(greeting)"
    )
    _ = try await response(to: Self.subscription, from: client)
    #expect(try await response(to: Self.start, from: client)["method"] == "store/changed")
    process.terminate()
    let last = try #require(try await client.receive())
    #expect(try JSONValue(parsing: last)["id"] == 2)
    while try await client.receive() != nil {}
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/data/lock"))
    await client.close()
  }

  @Test("serves a page of its own, the JavaScript client, and the same session over HTTP and TCP")
  func page() async throws {
    let folder = try TestFolder()
    try Data("<p>Stopwatch</p>".utf8).write(to: URL(filePath: folder.path + "/index.html"))
    let process = process([
      "serve", "--tcp", "127.0.0.1:0", "--web", "127.0.0.1:0", "--web-root", folder.path,
      "--content-security-policy", "default-src 'self'",
    ])
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    defer { process.terminate() }
    let log = try errors.fileHandleForReading.read(untilLineWith: "listening on http").all
    let addresses = log.split(separator: "\n").filter { $0.contains("listening on ") }
      .compactMap { $0.split(separator: " ").last.flatMap { ServerAddress(String($0)) } }
    try #require(addresses.count == 2, "\(log)")

    let page = try await get("/", addresses[1])
    #expect(page.status == 200 && page.text == "<p>Stopwatch</p>", "\(page)")
    #expect(page.policy == "default-src 'self'")
    // Each module that a module imports is there.
    var (paths, seen) = (["/client/index.js"], Set<String>())
    while let path = paths.popLast() {
      guard seen.insert(path).inserted else { continue }
      let module = try await get(path, addresses[1])
      #expect(module.status == 200 && module.type?.hasPrefix("text/javascript") == true, "\(path)")
      for found in module.text.matches(of: /from "(\.[^"]+)"/) {
        let base = URL(string: "http://x" + path)
        paths += URL(string: String(found.1), relativeTo: base).map { [$0.absoluteURL.path] } ?? []
      }
    }
    #expect(seen.count > 5, "\(seen)")

    let web = try await ClientConnection.connect(to: addresses[1], framing: .lines)
    let opened = try await response(
      to: #"{"jsonrpc":"2.0","id":0,"method":"session/open"}"#, from: web)
    let handle = try #require(opened[try JSONPointer(parsing: "/result/session")]?.string)
    _ = try await response(to: Self.subscription, from: web)
    let tcp = try await ClientConnection.connect(to: addresses[0], framing: .lines)
    _ = try await response(
      to: #"{"jsonrpc":"2.0","id":0,"method":"session/attach","params":{"session":"\#(handle)"}}"#,
      from: tcp)
    _ = try await response(to: Self.start, from: tcp)
    var update = JSONValue.null
    // A participant also receives the presence of the other one.
    while update["method"] != "store/changed" {
      update = try JSONValue(parsing: try #require(try await web.receive()))
    }
    #expect(update[try JSONPointer(parsing: "/params/store")] == "stopwatch", "\(update)")
    await web.close()
    await tcp.close()
  }

  // MARK: - Helpers

  /// A response to a GET request.
  private struct Page {
    let status: Int
    let policy: String?
    let type: String?
    let text: String
  }

  private func get(_ path: String, _ address: ServerAddress) async throws -> Page {
    let url = try #require(URL(string: "\(address)\(path)"))
    let (data, response) = try await URLSession.shared.data(from: url)
    let head = try #require(response as? HTTPURLResponse)
    return Page(
      status: head.statusCode, policy: head.value(forHTTPHeaderField: "Content-Security-Policy"),
      type: head.value(forHTTPHeaderField: "Content-Type"),
      text: String(decoding: data, as: UTF8.self))
  }

  private func process(_ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: Self.path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    return process
  }

  private func run(_ arguments: [String], input: String = "") throws -> ProgramResult {
    try ProgramResult(of: Self.path, arguments, input: input)
  }

  private func response(
    to request: String, from client: ClientConnection
  ) async throws -> JSONValue {
    try await client.send(Array(request.utf8))
    return try JSONValue(parsing: try #require(try await client.receive()))
  }
}
