// SPDX-License-Identifier: Apache-2.0

import Documents
import Foundation
import Logging
import SQLiteFiles
import StateMachines
import StatewireServer
import TestSupport
import Testing

@Suite("Checks at the start of a server", .timeLimit(.minutes(15)))
struct StartCheckTests {
  private struct Gauge: StateMachine {
    enum Input: Codable, Sendable { case tapped }
    enum Action: Sendable { case nothing }
    struct State: Codable, Sendable { var level = 0.0 }
    var initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Action> { .action(.nothing) }
    func reduce(_ state: inout State, _ action: Action) {}
  }

  private struct Scale: Codable, Sendable { var level: Double }

  private static func gauge(_ name: String, level: Double = 0) -> StoreKind {
    StoreKind(name) { Gauge(initialState: .init(level: level)) }
  }

  private static func configuration(_ kinds: ServerKinds) -> ServerConfiguration {
    var configuration = ServerConfiguration(
      kinds: kinds, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    configuration.listeners = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.handlesSignals = false
    return configuration
  }

  /// Starts a server, and stops it if it starts; returns the message of a `StartupError`.
  private func fault(_ configuration: ServerConfiguration) async throws -> String? {
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        group.addTask {
          defer { starting.finish() }
          try await Server.run(configuration) { _ in starting.finish() }
        }
        for await _ in started {}
        group.cancelAll()
        try await group.waitForAll()
      }
      return nil
    } catch let error as StartupError {
      return error.message
    }
  }

  @Test("two kinds with one name are refused, in one list and in a sum of lists")
  func duplicates() async throws {
    let expected = "two store kinds have the name \"gauge\"; rename one of them"
    let one: ServerKinds = [Self.gauge("gauge"), Self.gauge("other"), Self.gauge("gauge")]
    #expect(try await fault(Self.configuration(one)) == expected)
    let sum: ServerKinds = [Self.gauge("gauge")] + ServerKinds { _ in [Self.gauge("gauge")] }
    #expect(try await fault(Self.configuration(sum)) == expected)
    #expect(try await fault(Self.configuration([Self.gauge("a"), Self.gauge("b")])) == nil)
  }

  @Test(
    "a name that no client can use is refused", arguments: ["", String(repeating: "g", count: 257)])
  func names(name: String) async throws {
    #expect(
      try await fault(Self.configuration([Self.gauge(name)]))
        == "the store kind \"\(name)\" needs a name of 1 to 256 bytes")
  }

  @Test("a kind whose initial view state cannot be encoded is refused, with the path of the member")
  func initialView() async throws {
    let kinds: ServerKinds = [Self.gauge("tank"), Self.gauge("gauge", level: .nan)]
    let message = try #require(try await fault(Self.configuration(kinds)))
    let start =
      "the store kind \"gauge\" cannot be served: its initial view state cannot be encoded"
    #expect(message.hasPrefix(start) && message.contains("/level"), "\(message)")
  }

  @Test("a kind that requires a configuration is not checked")
  func configured() async throws {
    let kinds: ServerKinds = [
      StoreKind("gauge", configuration: Scale.self) { Gauge(initialState: .init(level: $0.level)) }
    ]
    #expect(try await fault(Self.configuration(kinds)) == nil)
  }

  @Test("a damaged file of documents is refused if a kind uses it")
  func documents() async throws {
    try await withFolder { folder in
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let file = "\(folder)/documents.sqlite"
      try String(repeating: "no database ", count: 1000).write(
        toFile: file, atomically: false, encoding: .utf8)
      var configuration = Self.configuration([Self.gauge("gauge")])
      configuration.dataFolder = folder
      #expect(try await fault(configuration) == nil)
      configuration.kinds = ServerKinds { context in
        _ = context.documents
        return [Self.gauge("gauge")]
      }
      let error = await #expect(throws: StorageError.self) { try await fault(configuration) }
      #expect(error?.code == .notADatabase && error?.message.contains(file) == true)
      configuration.dataFolder = nil
      #expect(try await fault(configuration) == nil)
    }
  }

  @Test("a limit that is out of range is refused, with the name of its property")
  func limits() async throws {
    func check(
      _ expected: String, _ change: (inout ServerConfiguration) -> Void
    ) async throws {
      var configuration = Self.configuration([Self.gauge("gauge")])
      change(&configuration)
      #expect(try await fault(configuration) == expected)
    }
    try await check("limits.frameBytes is 0; the limit must be at least 1") {
      $0.limits.frameBytes = 0
    }
    try await check("limits.depth is 1001; the limit must be at most 1000") {
      $0.limits.depth = 1001
    }
    try await check("sessionLimits.sessions is -1; the limit must be at least 1") {
      $0.sessionLimits.sessions = -1
    }
    try await check("limits.idleTime is -1.0 seconds; the time must not be negative") {
      $0.limits.idleTime = .seconds(-1)
    }
    try await check("documentLimits.rowBytes is 0; the limit must be at least 1") {
      $0.documentLimits.rowBytes = 0
    }
    try await check("sessionLimits.historyBytes is -1; the limit must be at least 0") {
      $0.sessionLimits.historyBytes = -1
    }
  }

  @Test("a page that cannot be served is refused")
  func page() async throws {
    var configuration = Self.configuration([Self.gauge("gauge")])
    configuration.listeners = [.web(host: "127.0.0.1", port: 0)]
    configuration.site.folder = "/nowhere/page"
    #expect(
      try await fault(configuration)
        == "cannot serve the files in /nowhere/page: it is not a folder")
    configuration.site.folder = nil
    configuration.site.contentSecurityPolicy = "default-src 'self'\r\nSet-Cookie: a=b"
    let message = try #require(try await fault(configuration))
    #expect(message.contains("is not a content security policy"), "\(message)")
  }
}
