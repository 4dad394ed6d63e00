// SPDX-License-Identifier: Apache-2.0

import Logging
import StateMachines
import StatewireJSON
import Testing

@testable import Sessions
@testable import StatewireServer

@Suite("The log of errors of machines")
struct StoreFailureLogTests {
  @Test("a feed whose id another one has is logged once for each kind and id")
  func once() {
    let lines = Lock<[String]>([])
    let log = StoreFailureLog(Logger(label: "test") { _ in Lines(lines: lines) })
    for (kind, id) in [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")] {
      log.log(StoreFailure(store: "s", kind: kind, error: JSONError(.runsAlready, id)))
    }
    #expect(
      lines.withLock { $0 } == [
        "the store \"s\" of kind \"a\": x", "the store \"s\" of kind \"a\": y",
        "the store \"s\" of kind \"b\": x",
      ])
  }

  @Test("a line has the session, the store, its kind and the request")
  func members() {
    let found = Lock<[Logger.Metadata]>([])
    let log = StoreFailureLog(Logger(label: "test") { _ in Members(found: found) })
    log.log(
      StoreFailure(
        store: "s", kind: "k", error: JSONError(.value, "m"), session: "0123abcd", request: "7"))
    log.log(StoreFailure(store: "t", kind: "k", error: JSONError(.runsAlready, "x")))
    #expect(
      found.withLock { $0 } == [
        ["session": "0123abcd", "store": "s", "kind": "k", "request": "7"],
        ["store": "t", "kind": "k"],
      ])
  }

  private struct Members: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    let found: Lock<[Logger.Metadata]>
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { found.withLock { $0.append(event.metadata ?? [:]) } }
  }

  private struct Lines: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    let lines: Lock<[String]>
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
  }
}
