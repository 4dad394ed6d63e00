// SPDX-License-Identifier: Apache-2.0

import Logging
import StateMachines
import Testing

@testable import ServerCore

@Suite("Log lines of connections", .timeLimit(.minutes(15)))
struct ConnectionLogTests {
  private struct Lines: LogHandler {
    let events: Lock<[(String, Logger.Metadata)]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      events.withLock { $0.append((event.message.description, event.metadata ?? [:])) }
    }
  }

  private let events = Lock<[(String, Logger.Metadata)]>([])
  private let world = World()
  private let credentials: Credentials

  init() throws {
    credentials = Credentials(
      try TokenTable(parsing: "alice \(AuthorisationTests.alice)\n".utf8))
  }

  private func client() -> TestClient {
    TestClient(
      world, credentials: credentials,
      logger: Logger(label: "tests") { [events] _ in Lines(events: events) })
  }

  private func metadata(_ message: String) -> [Logger.Metadata] {
    events.withLock { $0.filter { $0.0.hasPrefix(message) }.map(\.1) }
  }

  @Test("lines of one connection have the same id, lines of others another one")
  func connections() async throws {
    let (first, second) = (client(), client())
    for client in [first, second] {
      client.send(
        request("1", "initialize", "{\"token\":\"\(AuthorisationTests.alice)\"}"),
        request("\"a\\nb\"", "initialize", "{\"client\":{\"name\":\"c\",\"version\":\"1\"}}"))
      _ = client.takeMessages()
    }
    let known = metadata("authenticated a client")
    let greeted = metadata("initialized a client")
    try #require(known.count == 2 && greeted.count == 2)
    #expect(known.map { $0["request"] } == ["1", "1"])
    #expect(greeted.map { $0["request"] } == [#""a\nb""#, #""a\nb""#])
    #expect(known.map { $0["identity"] } == ["alice", "alice"])
    #expect(known[0]["connection"] == greeted[0]["connection"])
    #expect(known[1]["connection"] == greeted[1]["connection"])
    #expect(known[0]["connection"] != nil && known[0]["connection"] != known[1]["connection"])
    #expect(known[0]["session"] == nil)
  }

  @Test("a line has the first digits of the handle and never the token")
  func session() async throws {
    let client = client()
    client.send(
      request("1", "initialize", "{\"token\":\"\(AuthorisationTests.alice)\"}"),
      request("2", "session/open"))
    let messages = client.takeMessages()
    let digits = try #require(messages.last?.firstMatch(of: /"session":"([0-9a-f]{32})"/)?.1)
    for wrong in ["wrong-1-secret", "wrong-2-secret", "wrong-3-secret"] {
      client.send(request("3", "initialize", "{\"token\":\"\(wrong)\"}"))
    }
    let refused = try #require(metadata("closing a client that has sent too many wrong").first)
    #expect(refused["session"] == "\(digits.prefix(8))" && refused["request"] == "3")
    let all = events.withLock { "\($0)" }
    #expect(!all.contains(digits) && !all.contains("secret"))
    #expect(!all.contains(AuthorisationTests.alice))
  }
}
