// SPDX-License-Identifier: Apache-2.0

import Logging
import StateMachines
import Testing

@testable import StatewireServer

@Suite("Repeated failures")
struct RepeatedFailuresTests {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private struct Lines: LogHandler {
    let lines: Lock<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { lines.withLock { $0.append("\(event.level): \(event.message)") } }
  }

  @Test("logs one in a minute, and at the end the last one")
  func limited() {
    let lines = Lock<[String]>([])
    let failures = RepeatedFailures(Logger(label: "test") { _ in Lines(lines: lines) }, "it: ")
    failures.end()
    for count in 1...3 { failures.log(Failure(description: "\(count)")) }
    #expect(lines.withLock { $0 } == ["error: it: 1"])
    for _ in 0..<2 { failures.end() }
    #expect(lines.withLock { $0 } == ["error: it: 1", "error: it: 3"])
  }
}
