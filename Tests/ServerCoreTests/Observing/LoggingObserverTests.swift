// SPDX-License-Identifier: Apache-2.0

import Logging
import StateMachines
import TestSupport
import Testing

@testable import ServerCore

@Suite("Logging observer", .timeLimit(.minutes(15)))
struct LoggingObserverTests {
  /// Records log lines as `level message {metadata}`.
  private struct RecordingLogHandler: LogHandler {
    let lines: Record<String>
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
        .joined(separator: " ")
      lines.add("\(event.level) \(event.message) \(metadata)")
    }
  }

  /// Returns the lines logged at a level, for a store with operations that succeed, fail, and fail
  /// in part.
  private func lines(_ level: Logger.Level, count: Int) async throws -> [String] {
    let lines = Record<String>()
    var logger = Logger(label: "tests") { _ in RecordingLogHandler(lines: lines, logLevel: level) }
    logger.logLevel = level
    let client = TestClient(World(observers: [LoggingObserver(logger)]))
    for (id, input) in [("atOnce", 77_123), ("atOnce", -1), ("part", -77_123)].enumerated() {
      client.send(
        send(
          "\(id)", "{\"type\":\"\(input.0)\",\"number\":\(input.1)}", to: "fallible",
          settle: true))
      _ = try await client.messages(1)
    }
    try await lines.reaches(count)
    client.send(request("9", "store/close", "{\"store\":\"fallible\"}"))
    let all = lines.all
    #expect(!all.joined().contains("77123"), "a payload in \(all)")
    return all
  }

  private static let failed =
    "warning an operation failed action=Int kind=fallible number=2 operation=set stage=operation store=fallible"
  private static let partFailed =
    "warning an operation failed kind=fallible number=1 operation=set stage=part store=fallible"

  @Test("control characters in a store's name are escaped")
  func names() async throws {
    let lines = Record<String>()
    var logger = Logger(label: "tests") { _ in RecordingLogHandler(lines: lines, logLevel: .info) }
    logger.logLevel = .info
    let client = TestClient(World(observers: [LoggingObserver(logger)]))
    let name = "a\\n\\u001b[31m\\u2028é"
    client.send(
      request("1", "store/open", "{\"store\":\"\(name)\",\"kind\":\"fallible\"}"),
      send("2", "{\"type\":\"atOnce\",\"number\":-1}", to: name, settle: true))
    _ = try await client.messages(2)
    try await lines.reaches(1)
    #expect(lines.all[0].hasSuffix(#"store=a\n\u001b[31m\u2028é"#))
  }

  @Test("failed operations are logged as warnings, by name")
  func warnings() async throws {
    #expect(try await lines(.info, count: 2) == [Self.failed, Self.partFailed])
  }

  @Test("ends of operations are logged at the debug level")
  func debug() async throws {
    #expect(
      try await lines(.debug, count: 6) == [
        "debug finished kind=fallible number=1 operation=set stage=operation store=fallible",
        Self.failed,
        "debug failed kind=fallible number=2 operation=set stage=operation store=fallible",
        Self.partFailed,
        "debug failed kind=fallible number=1 operation=set stage=part store=fallible",
        "debug finished kind=fallible number=3 operation=work stage=operation store=fallible",
      ])
  }

  @Test("beginnings of operations and inputs are logged at the trace level")
  func trace() async throws {
    let lines = try await lines(.trace, count: 16)
    #expect(
      lines.prefix(4) == [
        "trace began input=atOnce kind=fallible number=1 operation=input stage=input store=fallible",
        "trace began kind=fallible number=1 operation=set stage=operation store=fallible",
        "debug finished kind=fallible number=1 operation=set stage=operation store=fallible",
        "trace finished kind=fallible number=1 operation=input stage=input store=fallible",
      ])
    #expect(lines.contains(Self.failed) && lines.contains(Self.partFailed))
  }

  @Test("a logger that logs no warnings observes nothing")
  func quiet() async throws {
    #expect(try await lines(.error, count: 0) == [])
    var logger = Logger(label: "tests")
    logger.logLevel = .error
    let hook = LoggingObserver(logger).hook(
      for: Fallible(), store: ObservedStore("x", kind: "fallible"))
    #expect(hook == nil)
  }
}
